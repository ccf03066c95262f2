// errors.test.js - values in messages: any value can be shown, in one short line.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shown } from '../../js/errors.js';

test('shown() never throws and gives one short line', () => {
	const circular = { self: {} };
	circular.self = circular;
	const { proxy, revoke } = Proxy.revocable({}, {});
	revoke();
	/** @type {[unknown, string | RegExp][]} */
	const cases = [
		['a\nb', '"a\\nb"'],
		[12n, '12n'],
		[{ a: 1n }, '{"a":"1n"}'],
		[Symbol('x\ny'), 'Symbol(x\\ny)'],
		[undefined, 'undefined'],
		[null, 'null'],
		[Number.NaN, 'NaN'],
		[() => 1, 'a function'],
		[/a/g, '/a/g'],
		[[1, 'x'], '[1,"x"]'],
		[new Map([[1, 2]]), '[object Map]'],
		[new Float32Array(10), '[object Float32Array]'],
		[Object.create(null), '{}'],
		[Object.create({ constructor: null }), /type object/],
		[circular, /type object/],
		[proxy, /type object/],
		[
			{
				toJSON() {
					throw new Error('no');
				},
			},
			/type object/,
		],
		['x'.repeat(10_000), /^"x{200}\.\.\."$/],
		[Array.from({ length: 10_000 }, () => 1), /^\[1,.{190,210}\.\.\.$/],
	];
	for (const [value, expected] of cases) {
		const text = shown(value);
		if (typeof expected === 'string') assert.equal(text, expected);
		else assert.match(text, expected);
		assert.ok(!/[\n\r]/.test(text) && text.length < 220);
	}
});
