// gguf.test.js - GGUF models: what is kept, in which order it is written, split files, and the way back.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { dequantize, quantize } from '../../js/arrays/quantize.js';
import { blobSink, memorySink } from '../../js/io/sink.js';
import { compareModels } from '../../js/model/compare.js';
import { dequantizeModel } from '../../js/model/dequantize.js';
import { openModel } from '../../js/model/open.js';
import { plan } from '../../js/model/plan.js';
import { quantizeModel } from '../../js/model/quantize.js';
import { makeScheme } from '../../js/scheme/object.js';
import { bytesOf, noise, stored, weights } from './files-support.js';
import { copy, gguf, LLAMA, pair, quantized, u32, u64 } from './gguf-support.js';
import { ready } from './support.js';

before(() => ready());

const count = (dims) => dims.reduce((product, edge) => product * edge, 1);
/** @param {string} name @param {number[]} dims @param {number} [seed] */
const f32 = (name, dims, seed = 1) => ({ name, dims, type: 0, data: bytesOf(weights(count(dims), seed)) });
const small = [
	f32('output.weight', [256, 4], 1),
	f32('blk.0.attn_norm.weight', [256], 2),
	f32('blk.0.ffn_up.weight', [256, 8], 3),
];
const names = ({ tensors }) => tensors.map(({ name }) => name);

/** One pair of every type there is, in odd values, too. */
const EVERYTHING = [
	pair('general.architecture', 'str', 'llama'),
	pair('t.u8', 'u8', 255),
	pair('t.i8', 'i8', -128),
	pair('t.u16', 'u16', 65535),
	pair('t.i16', 'i16', -32768),
	pair('t.u32', 'u32', 2 ** 32 - 1),
	pair('t.i32', 'i32', -(2 ** 31)),
	pair('t.f32', 'f32', Number.NaN),
	pair('t.bool', 'bool', 1),
	pair('t.bool.odd', 'bool', 7),
	pair('t.str', 'str', 'é中\0😀'),
	pair('t.str.bytes', 'str', new Uint8Array([0xff, 0xfe, 0])),
	pair('t.u64', 'u64', 2n ** 64n - 1n),
	pair('t.i64', 'i64', -(2n ** 63n)),
	pair('t.f64', 'f64', -0),
	pair('t.empty', 'arr', { of: 'str', items: [] }),
	pair('t.strs', 'arr', { of: 'str', items: ['a', '', 'c'.repeat(1000)] }),
	pair('t.bools', 'arr', { of: 'bool', items: [0, 1, 2] }),
	pair('t.f64s', 'arr', { of: 'f64', items: [1.5, Number.POSITIVE_INFINITY] }),
	pair('t.nested', 'arr', {
		of: 'arr',
		items: [
			{ of: 'i32', items: [1, -2] },
			{ of: 'str', items: ['x'] },
			{ of: 'arr', items: [{ of: 'u8', items: [] }] },
		],
	}),
	pair('__proto__', 'str', 'a key like any other'),
	pair('Not.Snake-Case', 'u8', 1),
];

test('metadata of every type, nested arrays too, are kept byte for byte', async () => {
	const bytes = gguf({ pairs: EVERYTHING, tensors: small });
	const model = await openModel(bytes);
	const { metadata } = model;
	assert.equal(metadata['t.u64'], 2n ** 64n - 1n);
	assert.equal(metadata['t.i64'], -(2n ** 63n));
	assert.equal(metadata['t.u32'], 2 ** 32 - 1);
	assert.ok(Number.isNaN(metadata['t.f32']) && Object.is(metadata['t.f64'], -0));
	assert.deepEqual([metadata['t.bool'], metadata['t.bool.odd'], metadata['t.str']], [true, true, 'é中\0😀']);
	assert.deepEqual(metadata['t.nested'], [[1, -2], ['x'], [[]]]);
	assert.deepEqual(metadata['t.bools'], [false, true, true]);
	assert.equal(Object.getOwnPropertyDescriptor(metadata, '__proto__')?.get?.(), 'a key like any other');
	assert.deepEqual([model.metadataTypes['t.strs'], model.metadataTypes['t.nested']], ['str[3]', 'arr[3]']);
	assert.equal(Object.keys(metadata).length, EVERYTHING.length);
	for (const odd of [/"t\.bool\.odd": a bool/, /"t\.nested": an array of arrays/, /"Not\.Snake-Case"/]) {
		assert.ok(
			model.odd.some((text) => odd.test(text)),
			`${odd}`,
		);
	}
	// Sorted already: nothing but the order of a file that is not sorted could change.
	assert.deepEqual(await copy(gguf({ pairs: EVERYTHING, tensors: [small[0], small[1], small[2]] })), bytes);
	const after = await quantized(bytes, { scheme: 'q8_0' });
	const text = Buffer.from(after.bytes).toString('latin1');
	for (const raw of EVERYTHING) assert.ok(text.includes(Buffer.from(raw).toString('latin1')));
});

test('version 2 is read, and written as version 3', async () => {
	const [two, three] = [2, 3].map((version) => gguf({ version, pairs: EVERYTHING, tensors: small }));
	assert.deepEqual(await copy(two), three);
	assert.match((await openModel(two)).odd.join(), /version 2/);
});

test('keys and tensors are written in the order of llama-quantize', async () => {
	const given = ['blk.10.b', 'blk.2.z', 'Z', 'blk.2.b', 'é', 'a', '\u{1F600}', '\uFFFD', 'blk.x', 'blk.-3.a'];
	const bytes = gguf({
		pairs: [
			pair('general.file_type', 'u32', 1),
			pair('general.architecture', 'str', 'llama'),
			pair('general.quantization_version', 'u32', 1),
			pair('split.count', 'u16', 0),
			pair('last', 'u8', 1),
		],
		tensors: given.map((name, i) => f32(`${name}.weight`, [32, 2], i)),
	});
	const { bytes: after } = await quantized(bytes, { scheme: 'q8_0' });
	const model = await openModel(after);
	const inOrder = ['blk.-3.a', 'Z', 'a', 'blk.x', 'é', '\uFFFD', '\u{1F600}', 'blk.2.b', 'blk.2.z', 'blk.10.b'];
	assert.deepEqual(
		names(model),
		inOrder.map((name) => `${name}.weight`),
	);
	assert.deepEqual(Object.entries({ ...model.metadata }), [
		['general.architecture', 'llama'],
		['last', 1],
		['general.quantization_version', 2],
		['general.file_type', 7],
	]);
});

test('an alignment of 64 or 8 is kept, and is that of the data', async () => {
	for (const alignment of [8, 64, 4096]) {
		const pairs = [...LLAMA, pair('general.alignment', 'u32', alignment)];
		const bytes = gguf({ pairs, tensors: small, alignment });
		const sorted = await copy(bytes);
		const { bytes: after } = await quantized(bytes, { scheme: 'q8_0' });
		const model = await openModel(after);
		assert.equal(model.metadata['general.alignment'], alignment);
		assert.equal(after.length % alignment, 0);
		assert.equal(model.files[0].header.dataStart % alignment, 0);
		for (const tensor of (await openModel(sorted)).tensors.filter(({ shape }) => shape.length === 1)) {
			assert.deepEqual(await stored(model, tensor.name), await tensor.read(0, tensor.nbytes));
		}
	}
});

test('quantized blocks are those of quantize(); everything else is as it was', async () => {
	const tensors = [
		f32('a.weight', [256, 6], 1),
		f32('blk.0.ffn_gate_exps.weight', [256, 4, 3], 2),
		f32('four.weight', [256, 2, 3, 2], 3),
		f32('vector.weight', [256], 4),
		f32('column.weight', [256, 1], 5),
		f32('blk.0.attn_norm.weight', [256, 2], 6),
		f32('blk.0.ffn_gate_inp.weight', [256, 2], 6),
		f32('abcde', [256, 2], 7),
		f32('a.bias', [256, 2], 8),
		f32('narrow.weight', [40, 2], 9),
		{ name: 'numbers.weight', dims: [256, 2], type: 26, data: noise(2048, 1) },
		{ name: 'other.weight', dims: [3], type: 24, data: noise(3, 2) },
		{ name: 'none.weight', dims: [256, 0], type: 0, data: new Uint8Array(0) },
		{ name: 'scalar', dims: [], type: 28, data: noise(8, 3) },
	];
	const bytes = gguf({ pairs: LLAMA, tensors });
	const before = await openModel(bytes);
	const result = await quantized(bytes, { scheme: 'Q4_K_S' });
	const model = await openModel(result.bytes);
	assert.equal(model.metadata['general.file_type'], 14);
	const types = Object.fromEntries(model.tensors.map(({ name, dtype }) => [name, dtype]));
	const taken = ['a.weight', 'blk.0.ffn_gate_exps.weight', 'four.weight', 'abcde'];
	for (const { name, dtype, shape, nbytes, read } of before.tensors) {
		const bytesBefore = await read(0, nbytes);
		if (taken.includes(name)) {
			assert.equal(types[name], 'Q4_K', name);
			const expected = quantize(new Float32Array(bytesBefore.buffer), { scheme: 'ggml:q4_k', shape });
			assert.deepEqual(await stored(model, name), expected.bytes, name);
		} else if (name === 'narrow.weight') assert.equal(types[name], 'F16');
		else {
			assert.equal(types[name], dtype, name);
			assert.deepEqual(await stored(model, name), bytesBefore, name);
		}
	}
	const reasons = Object.fromEntries(result.plan.tensors.map(({ name, reason }) => [name, reason]));
	assert.match(reasons['blk.0.attn_norm.weight'], /norm/);
	assert.match(reasons['blk.0.ffn_gate_inp.weight'], /router/);
	assert.match(reasons['column.weight'], /vector/);
	assert.match(reasons['a.bias'], /no \*weight/);
	assert.match(reasons['numbers.weight'], /I32 is not F32, F16 or BF16/);
	assert.match(reasons['narrow.weight'], /rows of 40 are no whole blocks of Q4_K/);
	assert.match(result.warnings.join(), /one tensor becomes F16 instead/);
});

test("a scheme of one's own: the type that says the same, or any that the blocks of a type hold", async () => {
	const bytes = gguf({ pairs: LLAMA, tensors: small });
	const q4 = { value: 'i4', scales: [{ dtype: 'f16', block: 32 }], rules: 'ggml-signed' };
	const { bytes: preset } = await quantized(bytes, { scheme: 'Q4_0' });
	for (const scheme of [q4, { ...q4, layout: 'ggml-q4_0' }])
		assert.deepEqual((await quantized(bytes, { scheme })).bytes, preset);
	const levels = [
		{ dtype: 'u6', block: 32 },
		{ dtype: 'f16', block: 256 },
	];
	const own = { value: 'u4', scales: levels, mins: levels, calibration: { percentile: 99 }, layout: 'ggml-q4_k' };
	const model = await openModel((await quantized(bytes, { scheme: own })).bytes);
	assert.equal(model.metadata['general.file_type'], 15);
	const up = model.tensors.find(({ name }) => name === 'blk.0.ffn_up.weight');
	assert.equal(up.dtype, 'Q4_K');
	const expected = quantize(weights(2048, 3), { scheme: own, shape: [8, 256] });
	assert.deepEqual(await stored(model, up.name), expected.bytes);
	const none = (scheme, message) => assert.rejects(quantized(bytes, { scheme }), { code: 'unsupported', message });
	await none({ ...q4, rules: 'plain' }, /this scheme, in the layout planes, is none/);
	await none(makeScheme('ct:w4a16'), /ct:w4a16 is none/);
});

test('include and exclude, and what is refused', async () => {
	const model = await openModel(gguf({ pairs: LLAMA, tensors: small }));
	const taken = (options) =>
		names({
			tensors: plan(model, { scheme: 'q8_0', pure: true, ...options }).tensors.filter((one) => one.quantize),
		});
	assert.deepEqual(taken({}), ['output.weight', 'blk.0.ffn_up.weight']);
	assert.deepEqual(taken({ exclude: 'output', include: /norm/ }), ['blk.0.attn_norm.weight', 'blk.0.ffn_up.weight']);
	/** @param {object} options @param {string} code @param {RegExp} message */
	const bad = (options, code, message) =>
		assert.throws(() => plan(model, { scheme: 'q8_0', pure: true, ...options }), { code, message });
	bad({ pure: false }, 'unsupported', /Q8_0 mixes several types by a recipe.*with pure every/);
	bad({ scheme: 'w4a16' }, 'unsupported', /carries ggml types, and ct:w4a16 is no type of ggml/);
	bad({ scheme: 'q8_9' }, 'unknown-scheme', /did you mean ggml:q8_0/);
	bad(
		{ scheme: 'iq2_xxs', exclude: 'output' },
		'needs-importance',
		/tensor "blk.0.ffn_up.weight": IQ2_XXS needs an importance matrix: give one/,
	);
	bad({ exclude: '.' }, 'nothing-to-do', /no tensor is selected/);
	for (const scheme of [
		'Q8_0',
		'ggml:q8_0',
		'GGML:Q8_0',
		(await import('../../js/presets.js')).presetNamed('q8_0').scheme,
	]) {
		assert.equal(plan(model, { scheme, pure: true }).target, 'ggml:q8_0');
	}
	const nan = weights(512, 1);
	nan[300] = Number.NaN;
	const broken = gguf({ pairs: LLAMA, tensors: [{ name: 'x.weight', dims: [256, 2], type: 0, data: bytesOf(nan) }] });
	for (const scheme of ['q8_0', 'f16']) {
		await assert.rejects(quantized(broken, { scheme }), {
			code: 'nonfinite',
			tensor: 'x.weight',
			message: /index 300/,
		});
	}
	const large = gguf({
		pairs: LLAMA,
		tensors: [{ ...f32('x.weight', [256, 2]), data: bytesOf(weights(512, 1).fill(65520, 9, 10)) }],
	});
	await assert.rejects(quantized(large, { scheme: 'f16' }), { code: 'overflow', message: /65520 at index 9/ });
	const { warnings } = await quantized(large, { scheme: 'f16', overflow: 'allow' });
	assert.match(warnings.join(), /1 weight\(s\) that f16 cannot hold/);
	await quantized(large, { scheme: 'bf16' });
});

test('quantized tensors: copied where they are that type already, quantized again only if that is allowed', async () => {
	const { bytes } = await quantized(gguf({ pairs: LLAMA, tensors: small }), { scheme: 'q8_0' });
	assert.deepEqual((await quantized(bytes, { scheme: 'q8_0' })).bytes, bytes);
	assert.deepEqual((await quantized(bytes, { scheme: 'copy', pure: false })).bytes, bytes);
	await assert.rejects(quantized(bytes, { scheme: 'q4_0' }), { code: 'unsupported', message: /is Q8_0 already/ });
	const again = await quantized(bytes, { scheme: 'q4_0', allowRequantize: true });
	const q8 = await openModel(bytes);
	const values = dequantize({ scheme: 'ggml:q8_0', shape: [8, 256], bytes: await stored(q8, 'blk.0.ffn_up.weight') });
	const expected = quantize(values, { scheme: 'ggml:q4_0', shape: [8, 256] });
	assert.deepEqual(await stored(await openModel(again.bytes), 'blk.0.ffn_up.weight'), expected.bytes);
	// Types that are only known by their size are copied, but not decoded.
	const q8k = gguf({
		pairs: LLAMA,
		tensors: [{ name: 'x.weight', dims: [256, 2], type: 15, data: noise(584, 1) }, small[0]].reverse(),
	});
	assert.deepEqual(await stored(await openModel(await copy(q8k)), 'x.weight'), noise(584, 1));
	await assert.rejects(quantized(q8k, { scheme: 'q4_0', allowRequantize: true }), {
		code: 'unsupported',
		tensor: 'x.weight',
	});
	await assert.rejects(dequantizeModel(await openModel(q8k), memorySink()), {
		code: 'unsupported',
		tensor: 'x.weight',
	});
	assert.deepEqual((await compareModels(await openModel(q8k), await openModel(q8k))).unread, ['x.weight']);
});

test('a model that is dequantized is the one that the tool makes of it, and compares as equal', async () => {
	const { bytes } = await quantized(gguf({ pairs: LLAMA, tensors: small }), { scheme: 'q4_k' });
	const model = await openModel(bytes);
	for (const [dtype, number] of Object.entries({ f32: 0, f16: 1, bf16: 32 })) {
		const sink = memorySink();
		const result = await dequantizeModel(model, sink, { dtype });
		assert.equal(result.nbytes, sink.bytes().length);
		const plain = await openModel(sink.bytes());
		assert.equal(plain.metadata['general.file_type'], number);
		assert.deepEqual(
			sink.bytes(),
			(await quantized(bytes, { scheme: dtype, pure: false, allowRequantize: true })).bytes,
		);
		const { tensors } = await compareModels(model, plain);
		assert.ok(tensors.length === 3 && tensors.every(({ mse }) => dtype !== 'f32' || mse === 0));
	}
	const shape = [8, 256];
	const expected = dequantize({ scheme: 'ggml:q4_k', shape, bytes: await stored(model, 'blk.0.ffn_up.weight') });
	const sink = memorySink();
	await dequantizeModel(model, sink, { dtype: 'f32' });
	assert.deepEqual(await stored(await openModel(sink.bytes()), 'blk.0.ffn_up.weight'), bytesOf(expected));
	const before = await openModel(gguf({ pairs: LLAMA, tensors: small }));
	const { summary } = await compareModels(before, model);
	assert.deepEqual(summary.map(({ kind }) => kind).sort(), ['heads', 'mlp up', 'norms']);
});

/** @param {number} no @param {number} shards @param {number} total */
const splitKeys = (no, shards, total) => [
	pair('split.no', 'u16', no),
	pair('split.tensors.count', 'i32', total),
	pair('split.count', 'u16', shards),
];

test('a split model: in the order of split.no, written as one file without a trace of it', async () => {
	const shards = small.map((tensor, i) =>
		gguf({ pairs: [...(i === 0 ? LLAMA : []), ...splitKeys(i, 3, 3)], tensors: [tensor] }),
	);
	const file = (i) => new File([shards[i]], `x-0000${i + 1}-of-00003.gguf`);
	const model = await openModel([file(2), file(0), file(1)]);
	assert.deepEqual([model.name, names(model)], ['x.gguf', small.map(({ name }) => name)]);
	const sink = blobSink();
	await quantizeModel(model, sink, { scheme: 'q8_0', pure: true });
	const whole = await quantized(gguf({ pairs: LLAMA, tensors: small }), { scheme: 'q8_0' });
	assert.deepEqual(new Uint8Array(await sink.blob().arrayBuffer()), whole.bytes);
	/** @param {(File | Uint8Array)[]} files @param {RegExp} message */
	const bad = (files, message) => assert.rejects(openModel(files), { code: 'bad-file', message });
	await bad([file(1)], /is shard 2 of 3: the others are needed too/);
	await bad([file(0), file(1)], /is one of 3 shards, but 2 files were given/);
	await bad([file(0), file(1), new File([shards[1]], 'y.gguf')], /is shard number 1 \(split\.no\), as x-00002/);
	await bad([file(0), file(2), new File([shards[2]], 'y.gguf')], /is shard number 2 \(split\.no\), and 1 is missing/);
	const plain = gguf({ pairs: LLAMA, tensors: small });
	await bad([plain, plain], /is no shard of a split model, but 2 files were given/);
	const twice = gguf({ pairs: splitKeys(1, 2, 2), tensors: [small[0]] });
	const first = (total) => gguf({ pairs: [...LLAMA, ...splitKeys(0, 2, total)], tensors: [small[0]] });
	await bad([first(2), twice], /tensor "output.weight": is in .* too/);
	await bad(
		[first(3), gguf({ pairs: splitKeys(1, 2, 3), tensors: [small[1]] })],
		/2 tensors, but split\.tensors\.count says 3/,
	);
	await bad([gguf({ pairs: [pair('split.no', 'u32', 0)] })], /split\.no must be of type u16, not u32/);
	await bad(
		[gguf({ pairs: [pair('split.count', 'arr', { of: 'u16', items: [1] })] })],
		/must be of type u16, not arr/,
	);
	const more = gguf({ pairs: [...splitKeys(1, 2, 2), pair('lost', 'u8', 1)], tensors: [small[1]] });
	assert.match(
		(await openModel([first(2), more])).warnings.join(),
		/"lost" of a shard after the first is not copied/,
	);
});

test('what is after the data is said; a last padding that is missing is made', async () => {
	const bytes = gguf({ pairs: LLAMA, tensors: [f32('x', [3])] });
	const short = gguf({ pairs: LLAMA, tensors: [f32('x', [3])], tail: 20 });
	assert.deepEqual(await copy(short), bytes);
	assert.match((await openModel(short)).odd.join(), /20 bytes of padding are missing/);
	const long = new Uint8Array(bytes.length + 5);
	long.set(bytes);
	assert.match((await openModel(long)).warnings.join(), /5 bytes after the last tensor's data are not copied/);
	const empty = gguf({ pairs: [pair('a', 'u8', 1)] });
	assert.deepEqual(await copy(empty), empty);
	assert.deepEqual(await copy(empty.subarray(0, 24 + 8 + 1 + 4 + 1)), empty);
});

test('long headers are read in pieces; every output byte is written once, no read is larger than a band', async () => {
	const items = Array.from({ length: 200_000 }, (_, i) => `token number ${i}`);
	const large = f32('x.weight', [4096, 700], 1);
	const bytes = gguf({ pairs: [...LLAMA, pair('tokens', 'arr', { of: 'str', items })], tensors: [large] });
	let longest = 0;
	const source = {
		size: bytes.length,
		read: async (/** @type {number} */ at, /** @type {number} */ n) => {
			longest = Math.max(longest, n);
			return bytes.slice(at, at + Math.min(n, 1_000_003));
		},
	};
	const model = await openModel(source);
	assert.deepEqual(model.metadata.tokens, items);
	const sink = blobSink();
	const { nbytes } = await quantizeModel(model, sink, { scheme: 'q5_0', pure: true });
	assert.equal(sink.blob().size, nbytes);
	assert.ok(longest <= 8 * 2 ** 20, `${longest}`);
	const expected = quantize(new Float32Array(large.data.buffer), { scheme: 'ggml:q5_0', shape: [700, 4096] });
	const after = await openModel(sink.blob());
	assert.ok(Buffer.from(await stored(after, 'x.weight')).equals(expected.bytes));
	// Decoded in bands, whatever the bands' borders are.
	const back = memorySink();
	await dequantizeModel(after, back, { dtype: 'f32' });
	assert.ok(
		Buffer.from(await stored(await openModel(back.bytes()), 'x.weight')).equals(bytesOf(dequantize(expected))),
	);
	const again = await quantized(new Uint8Array(await sink.blob().arrayBuffer()), {
		scheme: 'f32',
		allowRequantize: true,
	});
	assert.ok(Buffer.from(again.bytes).equals(back.bytes()));
});

test('numbers in a header are little-endian', () => {
	assert.deepEqual([...u32(1), ...u64(258)], [1, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0]);
});
