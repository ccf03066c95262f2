// convert.js - weights that become plain numbers of another dtype.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';
import { WEIGHT_DTYPES } from '../layouts.js';
import { floatValues, fromFloat32 } from './weights.js';

/** @typedef {import('./types.js').ModelTensor} ModelTensor */
/** @typedef {import('./types.js').Step} Step */

/** The largest finite values, and half of the step above them: what rounds to infinity. */
const LIMITS = { f32: Number.POSITIVE_INFINITY, f16: 65520, bf16: 2 ** 128 - 2 ** 119 };

/**
 * @param {ModelTensor} tensor of a dtype in WEIGHT_DTYPES
 * @param {import('./types.js').OutputTensor} output
 * @param {import('./quantize.js').QuantizeOptions} options
 * @param {import('./quantize.js').QuantizeResult['report']} report
 * @returns {Step}
 */
export function convertStep(tensor, output, { nonfinite, overflow, signal }, report) {
	const dtype = WEIGHT_DTYPES[output.dtype];
	return {
		outputs: [output],
		async run(write) {
			const found = { nonfinite: 0, overflow: 0 };
			let [index, offset] = [0, 0];
			try {
				for await (const values of floatValues(tensor, signal)) {
					count(values, LIMITS[dtype], found, (value, i) => {
						if (Number.isFinite(value) ? overflow !== 'allow' : nonfinite !== 'allow')
							refuse(value, index + i, dtype);
					});
					index += values.length;
					const bytes = fromFloat32(values, dtype);
					await write(0, bytes, offset);
					offset += bytes.byteLength;
				}
			} catch (error) {
				throw error instanceof BlockQuantError ? error.withTensor(tensor.name) : error;
			}
			const warnings = [
				...(found.nonfinite > 0 ? [`${found.nonfinite} NaN or infinite weight(s)`] : []),
				...(found.overflow > 0
					? [`${found.overflow} weight(s) that ${dtype} cannot hold become infinite`]
					: []),
			];
			const counts = { overflowBlocks: found.overflow, nonfiniteValues: found.nonfinite };
			report.push({ name: tensor.name, fusedValues: 0, genericValues: index, ...counts, warnings });
		},
	};
}

/**
 * @param {Float32Array} values
 * @param {number} limit
 * @param {{ nonfinite: number, overflow: number }} found
 * @param {(value: number, index: number) => void} meet
 */
function count(values, limit, found, meet) {
	for (let i = 0; i < values.length; i++) {
		const value = values[i];
		if (value > -limit && value < limit) continue;
		if (Number.isFinite(value)) found.overflow++;
		else found.nonfinite++;
		meet(value, i);
	}
}

/**
 * @param {number} value
 * @param {number} index
 * @param {string} dtype
 */
function refuse(value, index, dtype) {
	if (!Number.isFinite(value)) {
		throw new BlockQuantError('nonfinite', `NaN or infinite weight at index ${index}; expected finite weights`);
	}
	throw new BlockQuantError('overflow', `the weight ${value} at index ${index} is too large for ${dtype}`);
}
