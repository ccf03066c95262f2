// convert.js - weights that become plain numbers of another dtype.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';
import { WEIGHT_DTYPES } from '../layouts.js';
import { NBYTES } from '../core/abi.js';
import { checkCancelled } from '../workers/cancel.js';
import { discard } from '../workers/discard.js';
import { eachInPlace } from '../workers/order.js';
import { Comparer } from '../arrays/compare.js';
import { narrowed, widened } from '../arrays/task.js';
import { pieces } from './bands.js';

/** @typedef {import('./types.js').ModelTensor} ModelTensor */
/** @typedef {import('./types.js').Step} Step */

/** The largest finite values, and half of the step above them: what rounds to infinity. */
const LIMITS = { f32: Number.POSITIVE_INFINITY, f16: 65520, bf16: 2 ** 128 - 2 ** 119 };

/**
 * @param {ModelTensor} tensor of a dtype in WEIGHT_DTYPES
 * @param {import('./types.js').OutputTensor} output
 * @param {import('./quantize.js').QuantizeOptions} options
 * @param {import('./quantize.js').Findings} findings
 * @returns {Step}
 */
export function convertStep(tensor, output, { nonfinite, overflow, measure }, { reports, errors }) {
	const [from, dtype] = [WEIGHT_DTYPES[tensor.dtype], WEIGHT_DTYPES[output.dtype]];
	return {
		outputs: [output],
		async run(write, run) {
			const found = { nonfinite: 0, overflow: 0 };
			const comparer = new Comparer();
			/** @param {{ offset: number, length: number }} piece */
			const convert = async ({ offset, length }) => {
				checkCancelled(run.signal);
				const bytes = await tensor.read(offset, length);
				const values = widened(bytes, from);
				const index = offset / NBYTES[from];
				const here = { nonfinite: 0, overflow: 0 };
				count(values, LIMITS[dtype], here, (value, i) => {
					if (Number.isFinite(value) ? overflow !== 'allow' : nonfinite !== 'allow')
						refuse(value, index + i, dtype);
				});
				const narrow = narrowed(values, dtype);
				const error = new Comparer();
				if (measure) error.add(values, widened(narrow, dtype));
				await write(0, narrow, index * NBYTES[dtype]);
				discard([bytes, narrow]);
				return { ...here, error };
			};
			try {
				await eachInPlace(run, pieces(tensor.nbytes), convert, (here) => {
					found.nonfinite += here.nonfinite;
					found.overflow += here.overflow;
					comparer.merge(here.error);
				});
			} catch (error) {
				throw error instanceof BlockQuantError ? error.withTensor(tensor.name) : error;
			}
			const warnings = [
				...(found.nonfinite > 0 ? [`${found.nonfinite} NaN or infinite weight(s)`] : []),
				...(found.overflow > 0
					? [`${found.overflow} weight(s) that ${dtype} cannot hold become infinite`]
					: []),
			];
			if (measure) errors.set(tensor.name, comparer);
			const counts = { overflowBlocks: found.overflow, nonfiniteValues: found.nonfinite };
			const genericValues = tensor.nbytes / NBYTES[from];
			reports.set(tensor.name, { name: tensor.name, fusedValues: 0, genericValues, ...counts, warnings });
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
