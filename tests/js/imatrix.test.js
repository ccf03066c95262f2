// imatrix.test.js - importance matrices: both kinds of files, what is made of their numbers, and what is refused.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readImatrix } from '../../js/imatrix/imatrix.js';
import { i32, pair } from './gguf-support.js';
import { ggufImatrix, IMATRIX_PAIRS, legacyImatrix } from './imatrix-support.js';

const NAN = Number.NaN;
const third = Math.fround(Math.fround(0.1) / 3);

test('GGUF: means of squares, one row for each expert; an expert without data weighs all alike', async () => {
	const bytes = ggufImatrix([
		{ name: 'blk.0.ffn_up.weight', columns: 3, sums: [0.1, 6, 0], counts: [3] },
		{ name: 'blk.0.ffn_up_exps.weight', columns: 2, sums: [4, 8, 5, 7, 9, 1], counts: [4, 0, 2.5] },
	]);
	const { tensors, ...about } = await readImatrix(bytes);
	assert.deepEqual(about, { name: '', datasets: ['wiki.txt', 'more.txt'], chunks: 7 });
	assert.deepEqual(Object.fromEntries(tensors), {
		'blk.0.ffn_up.weight': Float32Array.of(third, 2, 0),
		// 2.5 counts as 3.
		'blk.0.ffn_up_exps.weight': Float32Array.of(1, 2, 1, 1, 3, 1 / 3),
	});
	const named = await readImatrix(new File([bytes], 'm.gguf'));
	assert.equal(named.name, 'm.gguf');
});

test('GGUF: the order of the two halves does not matter, other tensors do not either', async () => {
	const bytes = ggufImatrix([
		{ name: 'b', columns: 2, counts: [2] },
		{ name: 'a', columns: 2, sums: [1, 1], counts: [1] },
		{ name: 'b', columns: 2, sums: [2, 4] },
	]);
	const { tensors } = await readImatrix(bytes);
	assert.deepEqual(
		[...tensors],
		[
			['b', Float32Array.of(1, 2)],
			['a', Float32Array.of(1, 1)],
		],
	);
});

test('legacy: values are divided by the calls, where there are some', async () => {
	const entries = [
		{ name: 'a.weight', calls: 3, values: [Math.fround(0.1), 6, 0] },
		{ name: 'é.weight', calls: 0, values: [5] },
		{ name: 'c.weight', calls: -1, values: [5, 2] },
	];
	const { tensors, ...about } = await readImatrix(legacyImatrix(entries));
	assert.deepEqual(about, { name: '', datasets: [], chunks: 0 });
	assert.deepEqual(Object.fromEntries(tensors), {
		'a.weight': Float32Array.of(third, 2, 0),
		'é.weight': Float32Array.of(5),
		'c.weight': Float32Array.of(5, 2),
	});
	const newer = await readImatrix(legacyImatrix(entries, { tail: [i32(9), i32(3), Uint8Array.from([97, 46, 98])] }));
	assert.deepEqual([newer.chunks, newer.datasets, newer.tensors.size], [9, ['a.b'], 3]);
	assert.equal((await readImatrix(legacyImatrix(entries, { tail: [i32(9)] }))).chunks, 9);
});

test('a source whose reads share memory with others is read right', async () => {
	const file = legacyImatrix([{ name: 'odd', calls: 1, values: [1, 2, 3] }]);
	const larger = new Uint8Array(file.length + 1);
	larger.set(file, 1);
	const source = { size: file.length, fresh: true, read: async (at, n) => larger.subarray(1 + at, 1 + at + n) };
	assert.deepEqual((await readImatrix(source)).tensors.get('odd'), Float32Array.of(1, 2, 3));
});

const good = { name: 'a', columns: 2, sums: [1, 2], counts: [1] };
const keys = (...left) => IMATRIX_PAIRS.filter((_, i) => !left.includes(i));
/** @type {[string, Uint8Array, RegExp][]} */
const WRONG = [
	['no datasets', ggufImatrix([good], { pairs: keys(1) }), /no imatrix\.datasets: is this an importance matrix\?/],
	['no chunk count', ggufImatrix([good], { pairs: keys(2) }), /no imatrix\.chunk_count/],
	['no chunk size', ggufImatrix([good], { pairs: keys(3) }), /no imatrix\.chunk_size/],
	[
		'a chunk count of another type',
		ggufImatrix([good], { pairs: [...keys(2), pair('imatrix.chunk_count', 'str', '7')] }),
		/imatrix\.chunk_count is of the wrong type str \(at byte \d+\)/,
	],
	[
		'datasets that are no list',
		ggufImatrix([good], { pairs: [...keys(1), pair('imatrix.datasets', 'str', 'x')] }),
		/imatrix\.datasets is of the wrong type str /,
	],
	['no entries', ggufImatrix([]), /holds no importance of any tensor/],
	['sums alone', ggufImatrix([{ ...good, counts: undefined }]), /tensor "a": has a\.in_sum2 without .* \.counts/],
	['counts alone', ggufImatrix([{ ...good, sums: undefined }]), /tensor "a": has a\.counts without .* \.in_sum2/],
	['too many counts', ggufImatrix([{ ...good, counts: [1, 1] }]), /sums of 1 matrices and counts of 2/],
	['a NaN', ggufImatrix([{ ...good, sums: [1, NAN] }]), /tensor "a": its importance is NaN at index 1/],
	['an infinity', ggufImatrix([{ ...good, sums: [Infinity, 1] }]), /is Infinity at index 0/],
	[
		'a negative sum',
		ggufImatrix([{ ...good, sums: [1, -2] }]),
		/is -2 at index 1; expected finite numbers, none below 0/,
	],
	[
		'a count that is none',
		ggufImatrix([{ ...good, counts: [NAN] }]),
		/tensor "a\.counts": NaN at index 0 is no count/,
	],
	['a negative count', ggufImatrix([{ ...good, counts: [-1] }]), /-1 at index 0 is no count/],
	['integers', ggufImatrix([good], { type: 26 }), /tensor "a\.in_sum2": is of type I32; expected F32/],
	['a file that is cut', ggufImatrix([good]).slice(0, -30), /its data end \d+ bytes after the end of the file/],
	['an empty file', new Uint8Array(0), /the file ends within the number of entries \(at byte 0\)/],
	['text', new TextEncoder().encode('not an importance matrix at all'), /the number of entries is \d+: is this an/],
	[
		'legacy, no entries',
		legacyImatrix([]),
		/the number of entries is 0: is this an importance matrix\? \(at byte 0\)/,
	],
	['legacy, a negative count', legacyImatrix([], { count: -5 }), /the number of entries is -5/],
	['legacy, more entries than bytes', legacyImatrix([], { count: 2 ** 30 }), /the number of entries is 1073741824/],
	[
		'legacy, two entries of a name',
		legacyImatrix([
			{ name: 'a', calls: 1, values: [1] },
			{ name: 'a', calls: 1, values: [2] },
		]),
		/tensor "a": has two entries/,
	],
	[
		'legacy, an empty name',
		legacyImatrix([{ name: '', calls: 1, values: [1, 2] }]),
		/the length of a tensor name is 0/,
	],
	[
		'legacy, a long name',
		legacyImatrix([{ name: 'x'.repeat(64), calls: 1, values: [1] }]),
		/the length of a tensor name is 64/,
	],
	[
		'legacy, a NUL in a name',
		legacyImatrix([{ name: 'a\0b', calls: 1, values: [1] }]),
		/a tensor name contains a NUL byte/,
	],
	[
		'legacy, a name that is no UTF-8',
		legacyImatrix([{ name: Uint8Array.of(0xff, 0x41), calls: 1, values: [1] }]),
		/a tensor name is not UTF-8/,
	],
	[
		'legacy, no values',
		legacyImatrix([{ name: 'abcdef', calls: 1, values: [] }]),
		/the number of values of "abcdef" is 0/,
	],
	['legacy, a NaN', legacyImatrix([{ name: 'a', calls: 2, values: [1, NAN] }]), /its importance is NaN at index 1/],
	[
		'legacy, cut',
		legacyImatrix([{ name: 'a', calls: 1, values: [1, 2, 3] }]).subarray(0, 26),
		/the file ends within the values of "a" \(at byte 17\)/,
	],
	[
		'legacy, a dataset that is cut',
		legacyImatrix([{ name: 'a', calls: 1, values: [1] }], { tail: [i32(1), i32(9)] }),
		/the file ends within the dataset's name/,
	],
	[
		'legacy, more at the end',
		legacyImatrix([{ name: 'a', calls: 1, values: [1] }], { tail: [i32(1), i32(0), i32(0)] }),
		/4 bytes are left after its end/,
	],
];

for (const [what, bytes, message] of WRONG)
	test(`refused: ${what}`, async () => {
		await assert.rejects(readImatrix(new File([bytes], 'wrong.dat')), {
			code: 'bad-file',
			message,
			file: 'wrong.dat',
		});
	});

test('no part of a file is taken for a whole one, and a changed byte ends well', async () => {
	for (const whole of [
		ggufImatrix([good, { name: 'b', columns: 1, sums: [1, 2, 3], counts: [1, 2, 3] }]),
		legacyImatrix([{ name: 'a', calls: 1, values: [1] }], { tail: [i32(1), i32(1), Uint8Array.of(65)] }),
	]) {
		const { tensors } = await readImatrix(whole);
		for (let length = 0; length < whole.length; length++) {
			const cut = await readImatrix(whole.slice(0, length)).catch((error) =>
				assert.equal(error.code, 'bad-file'),
			);
			// GGUF's last padding may be missing; an older legacy file ends after its entries, or after the number of chunks.
			if (cut) assert.deepEqual(cut.tensors, tensors, `${length} bytes`);
		}
		for (let at = 0; at < whole.length; at++)
			for (const flip of [1, 0x80, 0xff]) {
				const changed = whole.slice();
				changed[at] ^= flip;
				await readImatrix(changed).catch((error) => assert.equal(error.code, 'bad-file', error.stack));
			}
	}
});

test('what is no source', async () => {
	for (const odd of [null, 5, 'file.dat', {}]) await assert.rejects(readImatrix(odd), { code: 'bad-argument' });
});
