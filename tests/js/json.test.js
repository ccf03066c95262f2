// json.test.js - what is read besides headers: JSON, the index of shards, and sources of every kind.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlockQuantError } from '../../js/errors.js';
import { sourceOf } from '../../js/io/source.js';
import { openModel } from '../../js/model/open.js';
import { readIndex, writeIndex } from '../../js/safetensors/index-file.js';
import { parseJson } from '../../js/json/read.js';
import { formatJson, toPlain } from '../../js/json/value.js';
import { noise, safetensors } from './files-support.js';

const bytesOf = (/** @type {string} */ text) => new TextEncoder().encode(text);

test('JSON: what JSON.parse takes silently is refused, with the byte', () => {
	/** @param {string | Uint8Array} text @param {RegExp} message */
	const bad = (text, message) =>
		assert.throws(
			() => parseJson(typeof text === 'string' ? bytesOf(text) : text, { base: 100 }),
			(error) => {
				assert.ok(error instanceof BlockQuantError);
				assert.match(error.message, message);
				return error.code === 'bad-file' && typeof error.offset === 'number' && error.offset >= 100;
			},
		);
	bad('\ufeff{}', /byte order mark/);
	bad('{"a":1,"a":2}', /duplicate key "a" \(at byte 107\)/);
	bad('9007199254740992', /beyond 2\^53/);
	bad('-9007199254740992', /beyond 2\^53/);
	bad(`${'['.repeat(129)}${']'.repeat(129)}`, /nested deeper than 128/);
	bad(new Uint8Array([0x22, 0xff, 0x22]), /not UTF-8/);
	bad(new Uint8Array([0x22, 0xc0, 0x80, 0x22]), /not UTF-8/);
	bad(new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22]), /not UTF-8/);
	bad('"\\ud800"', /surrogate/);
	bad('"\\ud800\\u0041"', /surrogate/);
	bad('"\\udc00"', /surrogate/);
	bad('"\\x"', /unknown escape/);
	bad('"\\u12g4"', /hexadecimal/);
	bad('"a\nb"', /control character/);
	bad('"abc', /does not end/);
	for (const text of [
		'',
		' ',
		'+1',
		'.5',
		'1.',
		'1e',
		'-',
		'00',
		'nul',
		'True',
		'NaN',
		'Infinity',
		"'a'",
		'{a:1}',
		'[1,]',
		'{"a":1,}',
		'[1 2]',
		'{"a" 1}',
		'1 2',
		'//',
		'-01',
	]) {
		bad(text, /./);
	}
	const good = '{"__proto__":[1,2.50,-3e-05,true,false,null,"\\ud83d\\ude00\\n\\u00e9"],"2":{},"10":[]}';
	const value = parseJson(bytesOf(good));
	assert.deepEqual([.../** @type {Map<string, unknown>} */ (value).keys()], ['__proto__', '2', '10']);
	assert.deepEqual(JSON.stringify(toPlain(value)), JSON.stringify(JSON.parse(good)));
});

test('JSON is written as Python writes it: sorted, ASCII, numbers as they were', () => {
	const text = '{"b":10000.0,"a":[1e-05,-0,Infinity,123456789012345678901],"é":"\\u007f😀","c":{},"d":[]}';
	const value = parseJson(bytesOf(text), { python: true });
	assert.equal(
		formatJson(value),
		'{\n  "a": [\n    1e-05,\n    -0,\n    Infinity,\n    123456789012345678901\n  ],\n  "b": 10000.0,\n  "c": {},\n  "d": [],\n  "\\u00e9": "\\u007f\\ud83d\\ude00"\n}',
	);
});

test('index: shards are plain names, and hold what they are said to hold', async () => {
	/** @param {string} text @param {string} [name] */
	const named = (text, name = 'model.safetensors.index.json') => new File([text], name);
	/** @param {string} name @param {string[]} tensors */
	const shard = (name, tensors) =>
		new File(
			[safetensors(tensors.map((tensor) => ({ name: tensor, dtype: 'U8', shape: [1], data: noise(1, 8) })))],
			name,
		);
	const good = named('{"metadata":{"total_size":2},"weight_map":{"a":"1.safetensors","b":"2.safetensors"}}');
	const one = shard('1.safetensors', ['a']);
	const two = shard('2.safetensors', ['b']);
	const model = await openModel([two, good, one]);
	assert.deepEqual(
		model.tensors.map(({ name, file: from }) => [name, from]),
		[
			['a', '1.safetensors'],
			['b', '2.safetensors'],
		],
	);
	for (const name of [
		'../x',
		'/x',
		'a/b',
		'a\\\\b',
		'..',
		'.',
		'',
		'C:x',
		'a\\u0000',
		'model.safetensors.index.json',
	]) {
		await assert.rejects(openModel([named(`{"weight_map":{"a":"${name}"}}`), one]), { code: 'bad-file' }, name);
	}
	for (const text of [
		'[]',
		'{}',
		'{"weight_map":[]}',
		'{"weight_map":{}}',
		'{"weight_map":{"a":1}}',
		'{"weight_map":{"a":"1.safetensors","a":"1.safetensors"}}',
		'{"metadata":1,"weight_map":{"a":"1.safetensors"}}',
		'{"weight',
	]) {
		await assert.rejects(openModel([named(text), one]), { code: 'bad-file' }, text);
	}
	await assert.rejects(openModel([good, one]), { code: 'io', message: /shard "2.safetensors" is missing/ });
	await assert.rejects(openModel([good, one, shard('2.safetensors', ['c'])]), {
		code: 'bad-file',
		message: /tensor "b": is not in 2/,
	});
	await assert.rejects(openModel([good, one, shard('2.safetensors', ['b', 'a'])]), {
		code: 'bad-file',
		message: /tensor "a": is in 1.* and in 2/,
	});
	await assert.rejects(openModel([good, one, two, shard('3.safetensors', [])]), { code: 'bad-argument' });
	await assert.rejects(openModel([one, two]), { code: 'bad-argument', message: /need their index/ });
	const extra = await openModel([good, one, shard('2.safetensors', ['b', 'c'])]);
	assert.deepEqual(extra.warnings, ['model.safetensors.index.json: tensor "c" is not in the index']);
});

test('an index is written with sorted keys, and its other metadata are kept', () => {
	const index = readIndex(
		bytesOf('{"metadata":{"total_parameters":7,"total_size":1},"weight_map":{"b":"y","a":"x"}}'),
	);
	assert.equal(
		writeIndex(index.weightMap, 99, index.metadata),
		'{\n  "metadata": {\n    "total_parameters": 7,\n    "total_size": 99\n  },\n  "weight_map": {\n    "a": "x",\n    "b": "y"\n  }\n}\n',
	);
});

test('sources: short reads are looped, early ends and wrong lengths are errors', async () => {
	const data = noise(100, 9);
	const slow = sourceOf({
		size: 100,
		read: async (offset, length) => data.slice(offset, offset + Math.min(length, 7)),
	});
	assert.deepEqual(await slow.read(3, 90), data.slice(3, 93));
	await assert.rejects(slow.read(50, 51), { code: 'io', offset: 50 });
	const short = sourceOf({
		size: 200,
		name: 'x',
		read: async (offset, length) => data.slice(offset, offset + length),
	});
	await assert.rejects(short.read(90, 20), { code: 'io', offset: 100, message: /x: the file ended early: 10 more/ });
	const broken = sourceOf({ size: 9, read: async () => Promise.reject(new Error('gone')) });
	await assert.rejects(broken.read(1, 2), { code: 'io', offset: 1, message: /cannot read: gone/ });
	const eager = sourceOf({ size: 9, read: async () => new Uint8Array(9) });
	await assert.rejects(eager.read(0, 2), { code: 'io' });
	assert.deepEqual(await sourceOf(new Blob([data])).read(10, 5), data.slice(10, 15));
	assert.deepEqual(await sourceOf(data.buffer).read(0, 100), data);
	// @ts-expect-error no source
	assert.throws(() => sourceOf('path'), { code: 'bad-argument' });
});
