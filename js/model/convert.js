// convert.js - weights that become plain numbers of another dtype.
// SPDX-License-Identifier: MIT

import { NBYTES } from '../core/abi.js';
import { BlockQuantError } from '../errors.js';
import { WEIGHT_DTYPES } from '../layouts.js';
import { discard } from '../workers/discard.js';
import { eachInPlace } from '../workers/order.js';
import { Comparer } from '../arrays/compare.js';
import { pieces } from './bands.js';

/** @typedef {import('../arrays/floats.js').Unfit} Unfit */
/** @typedef {import('./types.js').Step} Step */

/**
 * @param {import('./types.js').FloatTensor} tensor
 * @param {import('./types.js').OutputTensor} output
 * @param {import('./quantize.js').QuantizeOptions} options
 * @param {import('./quantize.js').Findings} findings
 * @returns {Step}
 */
export function convertStep(tensor, output, options, { reports, errors }) {
	const [from, dtype] = [WEIGHT_DTYPES[tensor.dtype], WEIGHT_DTYPES[output.dtype]];
	return {
		outputs: [output],
		async run(write, run) {
			const found = { nonfinite: 0, overflow: 0 };
			const comparer = new Comparer();
			/** @param {{ offset: number, length: number }} piece */
			const convert = async ({ offset, length }) => {
				const first = tensor.first?.(length / NBYTES[from]);
				const inputs = [await tensor.read(offset, length)];
				const { bytes, unfit, measured } = await run.pool.run(
					{ call: 'convert', from, dtype, first, measure: options.measure },
					inputs,
					run.signal,
				);
				const index = offset / NBYTES[from];
				refuse(unfit, options, index, dtype);
				await write(0, bytes, index * NBYTES[dtype]);
				discard([bytes]);
				return { unfit, measured };
			};
			try {
				await eachInPlace(
					run,
					pieces(tensor.nbytes),
					convert,
					({ unfit: { nonfinite, overflow }, measured }) => {
						found.nonfinite += nonfinite.count;
						found.overflow += overflow.count;
						if (measured) comparer.merge(measured);
					},
				);
			} catch (error) {
				throw error instanceof BlockQuantError ? error.withTensor(tensor.name) : error;
			}
			const warnings = [
				...(found.nonfinite > 0 ? [`${found.nonfinite} NaN or infinite weight(s)`] : []),
				...(found.overflow > 0
					? [`${found.overflow} weight(s) that ${dtype} cannot hold become infinite`]
					: []),
			];
			if (options.measure) errors.set(tensor.name, comparer);
			const counts = { overflowBlocks: found.overflow, nonfiniteValues: found.nonfinite };
			const genericValues = tensor.nbytes / NBYTES[from];
			reports.set(tensor.name, { name: tensor.name, fusedValues: 0, genericValues, ...counts, warnings });
		},
	};
}

/**
 * Throws for the first weight of a piece that is not allowed.
 * @param {Unfit} unfit
 * @param {import('./quantize.js').QuantizeOptions} options
 * @param {number} index of the piece's first weight
 * @param {string} dtype
 */
function refuse({ nonfinite, overflow }, options, index, dtype) {
	const refused = [
		...(nonfinite.count > 0 && options.nonfinite !== 'allow' ? [nonfinite] : []),
		...(overflow.count > 0 && options.overflow !== 'allow' ? [overflow] : []),
	].sort((a, b) => a.first - b.first);
	if (refused.length === 0) return;
	const [{ first, value }] = refused;
	const at = `at index ${index + first}`;
	if (Number.isFinite(value))
		throw new BlockQuantError('overflow', `the weight ${value} ${at} is too large for ${dtype}`);
	throw new BlockQuantError('nonfinite', `NaN or infinite weight ${at}; expected finite weights`);
}
