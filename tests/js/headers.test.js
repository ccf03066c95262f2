// headers.test.js - headers copied byte for byte, and ten thousand broken ones.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { BlockQuantError } from '../../js/errors.js';
import { memorySink } from '../../js/io/sink.js';
import { openModel } from '../../js/model/open.js';
import { rewriteModel } from '../../js/model/rewrite.js';
import { layoutSafetensors } from '../../js/safetensors/write.js';
import { copy, entry, file, goldenPath, noise, safetensors } from './files-support.js';

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
