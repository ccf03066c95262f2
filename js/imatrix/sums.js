// sums.js - importance matrices as llama-imatrix writes them: GGUF files of sums and counts.
// SPDX-License-Identifier: MIT

// Two tensors for each weight: NAME.in_sum2, the sums of the squares that each column was multiplied with, one row per matrix
// (expert), and NAME.counts, how many squares are in a row. What quantizers take is their mean.

import { BlockQuantError } from '../errors.js';
import { typeText, valueOf } from '../gguf/pairs.js';
import { readHeader } from '../gguf/read.js';
import { ImatrixEntries } from './entries.js';

/** @typedef {import('../io/source.js').Source} Source */

const SUMS = '.in_sum2';
const COUNTS = '.counts';

/** What the metadata must say, by the type of its value. */
const KEYS = { 'imatrix.datasets': /^str\[/, 'imatrix.chunk_count': /^u32$/, 'imatrix.chunk_size': /^u32$/ };

/** @param {Source} source */
export async function readSums(source) {
	const { bytes, pairs, tensors, dataStart } = await readHeader(source);
	const [datasets, chunks] = Object.entries(KEYS).map(([key, type]) => {
		const pair = pairs.find((one) => one.key === key);
		if (pair === undefined) throw new BlockQuantError('bad-file', `no ${key}: is this an importance matrix?`);
		const found = typeText(bytes, pair);
		if (type.test(found)) return valueOf(bytes, pair);
		throw new BlockQuantError('bad-file', `${key} is of the wrong type ${found}`, { offset: pair.value });
	});
	const byName = new Map(tensors.map((tensor) => [tensor.name, tensor]));
	const entries = new ImatrixEntries();
	for (const { name } of tensors) {
		const [tensor] = [SUMS, COUNTS].flatMap((end) => (name.endsWith(end) ? [name.slice(0, -end.length)] : []));
		// Other statistics may be there; and each pair of tensors is taken once.
		if (tensor === undefined || entries.tensors.has(tensor)) continue;
		const [sums, counts] = [byName.get(tensor + SUMS), byName.get(tensor + COUNTS)];
		if (sums === undefined || counts === undefined)
			return entries.fail(tensor, `has ${name} without its other half ${sums ? COUNTS : SUMS}`);
		entries.add(tensor, means(tensor, await read(sums), await read(counts)));
	}
	return { tensors: entries.finish(), datasets: /** @type {string[]} */ (datasets), chunks: Number(chunks) };

	/** @param {import('../gguf/read.js').TensorEntry} tensor */
	async function read({ name, type, shape, nbytes, begin }) {
		const fail = (/** @type {string} */ text) => entries.fail(name, text);
		if (type.name !== 'F32') fail(`is of type ${type.name}; expected F32`);
		const bytes = await source.read(dataStart + begin, nbytes);
		return { shape, values: new Float32Array(bytes.slice().buffer), fail };
	}

	/**
	 * The mean of each column's squares. Where none was counted, as for an expert that was never asked, all columns weigh the same.
	 * @param {string} tensor
	 * @param {Awaited<ReturnType<typeof read>>} sums
	 * @param {Awaited<ReturnType<typeof read>>} counts
	 */
	function means(tensor, sums, counts) {
		const columns = sums.shape.at(-1) ?? 1;
		const matrices = sums.values.length / columns;
		if (sums.values.length === 0) sums.fail('has no values');
		if (counts.values.length !== matrices)
			entries.fail(tensor, `has sums of ${matrices} matrices and counts of ${counts.values.length}`);
		const odd = counts.values.findIndex((count) => !(count >= 0 && count < Number.POSITIVE_INFINITY));
		if (odd >= 0) counts.fail(`${counts.values[odd]} at index ${odd} is no count`);
		// Rounded as the tool does, half away from zero.
		const whole = counts.values.map(Math.round);
		return sums.values.map((sum, i) => {
			const count = whole[Math.floor(i / columns)];
			return count > 0 ? sum / count : 1;
		});
	}
}
