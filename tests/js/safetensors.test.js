// safetensors.test.js - the reader refuses every file that cannot be right, the writer loses nothing.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { BlockQuantError } from '../../js/errors.js';
import { memorySink } from '../../js/io/sink.js';
import { sourceOf } from '../../js/io/source.js';
import { openModel } from '../../js/model/open.js';
import { rewriteModel } from '../../js/model/rewrite.js';
import { readIndex, writeIndex } from '../../js/safetensors/index-file.js';
import { parseJson } from '../../js/safetensors/json.js';
import { formatJson, toPlain } from '../../js/safetensors/json-value.js';
import { readHeader } from '../../js/safetensors/read.js';
import { layoutSafetensors } from '../../js/safetensors/write.js';
import { goldenPath, noise, safetensors } from './files-support.js';

const bytesOf = (/** @type {string} */ text) => new TextEncoder().encode(text);

/** A file of any header text over some data. @param {string} header @param {number} nbytes */
function file(header, nbytes = 0) {
	const json = bytesOf(header);
	const bytes = new Uint8Array(8 + json.length + nbytes);
	new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
	bytes.set(json, 8);
	return bytes;
}

/** @param {Uint8Array} bytes @param {RegExp} message @param {string} [code] */
async function refused(bytes, message, code = 'bad-file') {
	await assert.rejects(openModel(bytes), (error) => {
		assert.ok(error instanceof BlockQuantError, `${error}`);
		assert.equal(error.code, code, error.message);
		assert.match(error.message, message);
		assert.ok(!/[\n\r]/.test(error.message), 'one line');
		return true;
	});
}

/** The file written anew without a change. @param {Uint8Array} bytes */
async function copy(bytes) {
	const sink = memorySink();
	await rewriteModel(await openModel(bytes), sink, { step: () => null });
	return sink.bytes();
}

const entry = (/** @type {string} */ dtype, /** @type {number[]} */ shape, /** @type {number[]} */ offsets) =>
	`{"dtype":"${dtype}","shape":[${shape}],"data_offsets":[${offsets}]}`;

test('a good file: names, dtypes, shapes, metadata and bytes are read', async () => {
	const data = noise(24, 1);
	const bytes = safetensors(
		[
			{ name: 'b', dtype: 'F32', shape: [2, 2], data: data.subarray(0, 16) },
			{ name: 'a', dtype: 'BF16', shape: [4], data: data.subarray(16) },
		],
		{ format: 'pt', __proto__: 'x' },
	);
	const model = await openModel(bytes);
	assert.deepEqual(
		model.tensors.map(({ name, dtype, shape, nbytes }) => ({ name, dtype, shape, nbytes })),
		[
			{ name: 'b', dtype: 'F32', shape: [2, 2], nbytes: 16 },
			{ name: 'a', dtype: 'BF16', shape: [4], nbytes: 8 },
		],
	);
	assert.equal(model.metadata.format, 'pt');
	assert.deepEqual(await model.tensors[1].read(2, 4), data.slice(18, 22));
	await assert.rejects(model.tensors[1].read(6, 4), { code: 'internal' });
});

test('truncated at every byte of the file: refused, each time', async () => {
	const bytes = safetensors([
		{ name: 'x.weight', dtype: 'F32', shape: [2, 3], data: noise(24, 2) },
		{ name: 'y', dtype: 'U8', shape: [3], data: noise(3, 3) },
	]);
	await openModel(bytes);
	for (let length = 0; length < bytes.length; length++) await refused(bytes.slice(0, length), /./);
});

test('header lengths beyond the file, and beyond every limit', async () => {
	for (const length of [3n, 9n, 2n ** 31n, 2n ** 32n + 2n, 2n ** 63n, 2n ** 64n - 1n]) {
		const bytes = file('{}');
		new DataView(bytes.buffer).setBigUint64(0, length, true);
		await refused(bytes, /the header is said to have \d+ bytes, but only 2 follow/);
	}
	const huge = { size: 2 ** 40, read: async () => new Uint8Array([0, 0, 0, 0, 1, 0, 0, 0]) };
	await assert.rejects(readHeader(sourceOf(huge)), /a header of 4294967296 bytes; at most 100000000/);
});

test('headers that are no header', async () => {
	await refused(file(''), /does not start with "{"/);
	await refused(file(' {}'), /does not start with "{"/);
	await refused(file('[]'), /does not start with "{"/);
	await refused(file('\ufeff{}'), /does not start with "{"/);
	await refused(file('{}\0\0'), /only spaces may follow.*at byte 10/);
	await refused(file('{}\n'), /only spaces/);
	await refused(file('{'), /expected a key.*at byte 9/);
	await refused(file('{"a":1}'), /expected "{"/);
	await refused(file('{"a":{}}'), /"dtype" is missing/);
	await refused(file('{"a":{"dtype":"U8"}}'), /"shape" is missing/);
	await refused(file('{"a":{"dtype":"U8","shape":[0]}}'), /"data_offsets" must be two/);
	await refused(file('{"a":{"dtype":"U8","shape":[0],"data_offsets":[0]}}'), /"data_offsets" must be two/);
	await refused(file('{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0,0]}}'), /more than 2 numbers/);
	await refused(file('{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"extra":1}}'), /unknown field "extra"/);
	await refused(file('{"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,0]}}'), /integer of 0 or more/);
	await refused(file('{"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}}', 1), /integer of 0 or more/);
	await refused(file('{"a":{"dtype":"U8","shape":[1e0],"data_offsets":[0,1]}}', 1), /integer of 0 or more/);
	await refused(file('{"a":{"dtype":"U8","shape":["1"],"data_offsets":[0,1]}}', 1), /integer of 0 or more/);
	await refused(file('{"a":{"dtype":"U8","shape":[01],"data_offsets":[0,1]}}', 1), /expected a JSON value/);
	assert.equal((await openModel(file('{}   '))).tensors.length, 0);
});

test('unknown dtype', () => refused(file(`{"a":${entry('Q4', [0], [0, 0])}}`), /unknown dtype "Q4"/));

test('every dtype of the format, and its size', async () => {
	const bits = { 4: ['F4'], 6: ['F6_E2M3', 'F6_E3M2'], 8: ['BOOL', 'U8', 'I8', 'F8_E5M2', 'F8_E4M3', 'F8_E8M0'] };
	const more = { 8: ['F8_E4M3FNUZ', 'F8_E5M2FNUZ'], 16: ['I16', 'U16', 'F16', 'BF16'], 32: ['I32', 'U32', 'F32'] };
	const wide = { 64: ['C64', 'F64', 'I64', 'U64'] };
	for (const [width, dtypes] of [bits, more, wide].flatMap((table) => Object.entries(table))) {
		for (const dtype of dtypes) {
			const nbytes = Number(width);
			const good = await openModel(file(`{"a":${entry(dtype, [8], [0, nbytes])}}`, nbytes));
			assert.equal(good.tensors[0].nbytes, nbytes, dtype);
		}
	}
	await refused(file(`{"a":${entry('F4', [3], [0, 2])}}`, 2), /3 values of 4 bits are no whole number of bytes/);
});

test('shapes whose product overflows', async () => {
	for (const shape of [
		[2 ** 32, 2 ** 32],
		[2 ** 53 - 1, 2],
		[2 ** 30, 2 ** 30, 2 ** 30],
		[2 ** 40, 2 ** 40, 0],
		[2 ** 51, 1],
	]) {
		await refused(file(`{"a":${entry('F32', shape, [0, 0])}}`), /the product of shape \[[\d,]+\] overflows/);
	}
	await refused(file(`{"a":{"dtype":"F32","shape":[9007199254740993],"data_offsets":[0,0]}}`), /beyond 2\^53/);
	await refused(file(`{"a":{"dtype":"F32","shape":[18446744073709551617],"data_offsets":[0,4]}}`, 4), /beyond 2\^53/);
});

test('short, long, backward data', async () => {
	await refused(file(`{"a":${entry('F32', [2], [0, 4])}}`, 4), /F32 of shape \[2\] takes 8 bytes, not 4/);
	await refused(file(`{"a":${entry('F32', [1], [0, 8])}}`, 8), /takes 4 bytes, not 8/);
	await refused(file(`{"a":${entry('F32', [1], [8, 4])}}`, 8), /run backwards/);
	await refused(file(`{"a":${entry('F32', [2], [0, 8])}}`, 7), /tensor "a": its data end 1 bytes after the end/);
	await refused(file(`{"a":${entry('F32', [1], [0, 4])}}`, 5), /1 bytes after the last tensor's data/);
	await refused(file('{}', 1), /1 bytes after the last tensor's data/);
});

test('overlapping data and holes, with the tensor and the byte', async () => {
	const a = `"a":${entry('U8', [4], [0, 4])}`;
	await refused(file(`{${a},"b":${entry('U8', [4], [3, 7])}}`, 7), /tensor "b": its data overlap.*at byte \d+/);
	await refused(file(`{${a},"b":${entry('U8', [4], [0, 4])}}`, 4), /overlap/);
	await refused(file(`{${a},"b":${entry('U8', [0], [2, 2])}}`, 4), /overlap/);
	await refused(file(`{${a},"b":${entry('U8', [4], [5, 9])}}`, 9), /tensor "b": 1 bytes before its data are unused/);
	await refused(file(`{"b":${entry('U8', [4], [1, 5])}}`, 5), /1 bytes before/);
});

test('duplicate names, however they are spelled', async () => {
	const a = entry('U8', [1], [0, 1]);
	const b = entry('U8', [1], [1, 2]);
	await refused(file(`{"a":${a},"a":${b}}`, 2), /duplicate key "a"/);
	await refused(file(`{"a":${a},"\\u0061":${b}}`, 2), /duplicate key "a"/);
	await refused(file(`{"__metadata__":{"x":"1","x":"2"}}`), /duplicate key "x"/);
	await refused(file(`{"__metadata__":{},"__metadata__":{}}`), /duplicate key "__metadata__"/);
	await refused(
		file('{"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}}', 1),
		/duplicate key "dtype"/,
	);
});

test('metadata holds strings only', async () => {
	await refused(file('{"__metadata__":{"a":1}}'), /the value of "a" in __metadata__ must be a string/);
	await refused(file('{"__metadata__":null}'), /expected "{"/);
	await refused(file('{"__metadata__":{"a":{}}}'), /must be a string/);
});

test('names that JavaScript objects lose are names like any other', async () => {
	const names = ['__proto__', 'constructor', '10', '2', 'toString', ''];
	const bytes = safetensors(
		names.map((name, i) => ({ name, dtype: 'U8', shape: [1], data: new Uint8Array([i]) })),
		JSON.parse('{"__proto__":"p","2":"two","1":"one"}'),
	);
	const model = await openModel(bytes);
	assert.deepEqual(
		model.tensors.map(({ name }) => name),
		names,
	);
	assert.deepEqual(await model.tensors[0].read(0, 1), new Uint8Array([0]));
	assert.equal(Object.getOwnPropertyDescriptor(model.metadata, '__proto__')?.value, 'p');
	assert.deepEqual(await copy(bytes), bytes);
});

test('copied without a change: every byte of names, metadata, order and data', async () => {
	const header =
		`{"__metadata__":{ "z":"1",\t"\\u00e9":"caf\\u00e9 é \\ud83d\\ude00", "10":"ten","2":""},` +
		`"\\u006c.weight":${entry('F32', [2, 1], [3, 11])},"0d":${entry('BF16', [], [11, 13])},` +
		`"empty":${entry('F32', [0, 7], [13, 13])},"5d":${entry('U8', [1, 1, 3, 1, 1], [0, 3])}}`;
	const bytes = file(header, 13);
	bytes.set(noise(13, 4), bytes.length - 13);
	const before = await openModel(bytes);
	const sink = memorySink();
	await rewriteModel(before, sink, { step: () => null });
	const after = await openModel(sink.bytes());
	assert.equal(after.files[0].header.rawMetadata, before.files[0].header.rawMetadata);
	assert.deepEqual(
		after.files[0].header.tensors.map(({ name, rawName, dtype, shape }) => ({ name, rawName, dtype, shape })),
		before.files[0].header.tensors.map(({ name, rawName, dtype, shape }) => ({ name, rawName, dtype, shape })),
	);
	for (const [i, tensor] of before.tensors.entries()) {
		assert.deepEqual(await after.tensors[i].read(0, tensor.nbytes), await tensor.read(0, tensor.nbytes));
	}
	// Misaligned data are legal; their order is kept too.
	assert.deepEqual(
		after.files[0].header.tensors.map(({ begin }) => begin),
		[3, 11, 13, 0],
	);
	assert.equal(after.files[0].header.dataStart % 8, 0);
});

test('a layout: data follow the rank, the header the order given; wider dtypes go first where odd lengths misalign', () => {
	const tensors = [
		{ name: 'a', dtype: 'U8', shape: [4], nbytes: 4, rank: 1 },
		{ name: 'b', dtype: 'F32', shape: [1], nbytes: 4, rank: 0 },
	];
	/** @param {ReturnType<typeof layoutSafetensors>} layout */
	const begins = ({ offsets, header }) => offsets.map((offset) => offset - header.length);
	assert.deepEqual(begins(layoutSafetensors(tensors)), [4, 0]);
	const odd = [{ name: 'c', dtype: 'U8', shape: [3], nbytes: 3, rank: -1 }, ...tensors];
	assert.deepEqual(begins(layoutSafetensors(odd)), [4, 7, 0]);
	assert.deepEqual(begins(layoutSafetensors(odd, null, { keepOrder: true })), [0, 7, 3]);
});

test('golden files of compressed-tensors are copied byte for byte', async (t) => {
	const folder = goldenPath('compressed-tensors');
	if (folder === null) return t.skip('no golden data');
	const names = readdirSync(folder).filter((name) => name.endsWith('.safetensors'));
	for (const name of names.filter((_, i) => i % 40 === 0)) {
		const bytes = new Uint8Array(readFileSync(`${folder}/${name}`));
		assert.deepEqual(await copy(bytes), bytes, name);
	}
});

test('other formats are refused by name', async () => {
	await refused(bytesOf('GGUF\x03\0\0\0\0\0\0\0'), /GGUF files: not in this version/, 'unsupported');
	const pickle = new Uint8Array(100).fill(1);
	pickle.set([0x80, 2, 0x7d]);
	await refused(pickle, /Python pickle/, 'unsupported');
	await refused(bytesOf('PK\x03\x04rest of it'), /zip archive/, 'unsupported');
	await refused(bytesOf('version https://git-lfs.github.com/spec/v1'), /Git LFS/, 'unsupported');
	await refused(new Uint8Array(0), /only 0 bytes/);
	await refused(bytesOf('hello, world, this is no model'), /the header is said/);
});

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

test('ten thousand mutated headers: success or a BlockQuantError, in less than a second each', async () => {
	const good = safetensors(
		[
			{ name: 'model.layers.0.mlp.up_proj.weight', dtype: 'BF16', shape: [4, 8], data: noise(64, 5) },
			{ name: 'norm', dtype: 'F32', shape: [3], data: noise(12, 6) },
			{ name: 'empty', dtype: 'I64', shape: [0, 9], data: new Uint8Array(0) },
		],
		{ format: 'pt' },
	);
	const headerEnd = good.length - 76;
	const random = noise(200_000, 7);
	let at = 0;
	const next = (/** @type {number} */ limit) =>
		(random[at++ % random.length] * 256 + random[at++ % random.length]) % limit;
	const snippets = [
		'"',
		'{',
		'}',
		'[',
		']',
		',',
		':',
		'\\',
		'\\u',
		'9'.repeat(20),
		'-',
		'1e9',
		'null',
		'\0',
		'\xff',
		' ',
	];
	let accepted = 0;
	for (let round = 0; round < 10_000; round++) {
		let bytes = Array.from(good);
		for (let edit = 0; edit <= next(3); edit++) {
			const place = next(10) === 0 ? next(8) : 8 + next(headerEnd - 8);
			const snippet = [...snippets[next(snippets.length)]].map((letter) => letter.charCodeAt(0));
			const kind = next(4);
			if (kind === 0) bytes[place] = next(256);
			else if (kind === 1) bytes[place] ^= 1 << next(8);
			else if (kind === 2) bytes = [...bytes.slice(0, place), ...snippet, ...bytes.slice(place + snippet.length)];
			else bytes = [...bytes.slice(0, place), ...bytes.slice(place + 1 + next(4))];
			// Half of the headers that changed their length say so.
			const length = bytes.length - 8 - 76;
			if (next(2) === 0 && length >= 0) bytes.splice(0, 2, length % 256, length >> 8);
		}
		const start = performance.now();
		try {
			await openModel(Uint8Array.from(bytes));
			accepted++;
		} catch (error) {
			assert.ok(error instanceof BlockQuantError, `round ${round}: ${error}`);
		}
		assert.ok(performance.now() - start < 1000, `round ${round}`);
	}
	assert.ok(accepted > 0 && accepted < 9000, `${accepted} accepted`);
});

test('a header of a hundred thousand tensors is read in seconds', async () => {
	const tensors = Array.from({ length: 100_000 }, (_, i) => ({ name: `t.${i}`, dtype: 'U8', shape: [1], nbytes: 1 }));
	const { header, nbytes } = layoutSafetensors(tensors);
	const bytes = new Uint8Array(nbytes);
	bytes.set(header);
	const start = performance.now();
	assert.equal((await openModel(bytes)).tensors.length, 100_000);
	assert.ok(performance.now() - start < 10_000);
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
