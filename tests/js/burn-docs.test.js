// burn-docs.test.js - the example of docs/burn.md prints what it says.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { QuantizedBytes } from '../../js/burn/index.js';
import { dequantize, fromBurn, quantize, toBurn } from '../../js/index.js';
import { ready, root } from './support.js';

const exported = { QuantizedBytes, dequantize, fromBurn, quantize, toBurn };

test('the example of docs/burn.md', async () => {
	await ready();
	const [, example] = /```js\n([\s\S]*?)```/.exec(readFileSync(join(root, 'docs/burn.md'), 'utf8'));
	const lines = example.split('\n').filter((line) => !line.startsWith('import'));
	const imports = [...example.matchAll(/^import \{ (.*) \}/gm)].flatMap(([, names]) => names.split(', '));
	const names = imports.filter((name) => name !== 'init');
	assert.deepEqual([...names].sort(), Object.keys(exported));
	const printed = [];
	const expected = lines.filter((line) => line.startsWith('console.log')).map((line) => /\/\/ (.*)$/.exec(line)[1]);
	const body = lines.filter((line) => !line.startsWith('await init')).join('\n');
	new Function(...names, 'console', body)(...names.map((name) => exported[name]), {
		log: (...words) => printed.push(words.join(' ')),
	});
	assert.equal(printed.length, expected.length);
	printed.forEach((line, i) => {
		const beginning = expected[i].replace(/:.*|\.\.\.$/, (rest) =>
			rest === '...' || /^: two/.test(rest) ? '' : rest,
		);
		assert.ok(line.startsWith(beginning), `${line}\nis not\n${expected[i]}`);
	});
});
