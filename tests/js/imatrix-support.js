// imatrix-support.js - importance matrices made in memory, of both kinds, right and wrong ones.
// SPDX-License-Identifier: MIT

import { bytesOf } from './support.js';
import { gguf, i32, joined, pair } from './gguf-support.js';

/** @param {number[] | Float32Array} values */
const floats = (values) => new Uint8Array(bytesOf(Float32Array.from(values)));

/** What llama-imatrix says of itself. */
export const IMATRIX_PAIRS = [
	pair('general.type', 'str', 'imatrix'),
	pair('imatrix.datasets', 'arr', { of: 'str', items: ['wiki.txt', 'more.txt'] }),
	pair('imatrix.chunk_count', 'u32', 7),
	pair('imatrix.chunk_size', 'u32', 512),
];

/**
 * @param {{ name: string, columns: number, sums?: number[] | Float32Array, counts?: number[] }[]} entries either half may lack
 * @param {{ pairs?: Uint8Array[], type?: number }} [more]
 */
export function ggufImatrix(entries, { pairs = IMATRIX_PAIRS, type = 0 } = {}) {
	const tensors = entries.flatMap(({ name, columns, sums, counts }) => [
		...(sums
			? [{ name: `${name}.in_sum2`, dims: [columns, sums.length / columns], type, data: floats(sums) }]
			: []),
		...(counts ? [{ name: `${name}.counts`, dims: [1, counts.length], type: 0, data: floats(counts) }] : []),
	]);
	return gguf({ pairs, tensors });
}

/**
 * @param {{ name: string | Uint8Array, calls: number, values: number[] | Float32Array }[]} entries
 * @param {{ count?: number, tail?: Uint8Array[] }} [more]
 */
export function legacyImatrix(entries, { count = entries.length, tail = [] } = {}) {
	return joined([
		i32(count),
		...entries.flatMap(({ name, calls, values }) => {
			const text = typeof name === 'string' ? new TextEncoder().encode(name) : name;
			return [i32(text.length), text, i32(calls), i32(values.length), floats(values)];
		}),
		...tail,
	]);
}
