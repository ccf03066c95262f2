// scheme-draws.js - schemes drawn at random, most of them legal, and tensors for them.
// SPDX-License-Identifier: MIT

import { DTYPES, LAYOUTS, RULES } from '../../js/core/abi.js';
import { asDtype } from './support.js';

const INTEGER = /^[iu]\d$/;

/** Values: mostly a dtype, sometimes a table that need not be in order. */
function drawValue(r, pick) {
	if (r.below(8) === 0)
		return { codebook: [...new Set(Array.from({ length: 2 + r.below(40) }, () => Math.fround(r.normal() * 4)))] };
	const value = pick(DTYPES.filter((name) => /^[iu]\d$|^f[468]e|^nf4$|^iq4_nl$/.test(name)));
	return /^i[2-8]$/.test(value) && r.below(4) === 0 ? `${value}-narrow` : value;
}

/** One to three blocks, each made of whole blocks of the one inside it, mostly. */
function drawBlocks(r, pick, count) {
	const edge = () => (r.below(5) ? 1 + r.below(9) : -1);
	const inner = pick([
		() => 'tensor',
		() => 'channel',
		() => pick([2, 4, 8, 16, 32]),
		() => [edge(), edge()],
		() => [edge(), edge(), edge()],
	])();
	const blocks = [inner];
	while (blocks.length < count) {
		const last = blocks.at(-1);
		const times = (edges) => edges.map((length) => (length === -1 ? -1 : length * (1 + r.below(3))));
		const outer = Array.isArray(last) ? times(last) : typeof last === 'number' ? last * (1 + r.below(4)) : 'tensor';
		blocks.push(r.below(3) ? outer : 'tensor');
	}
	return blocks;
}

const CALIBRATIONS = ['minmax', 'minmax', 'absmean', { percentile: 95 }, { percentile: 60.5 }, 'mse', { mse: 0.95 }];

export function drawScheme(r) {
	const pick = (list) => list[r.below(list.length)];
	const value = drawValue(r, pick);
	const rules = r.below(3) ? pick(['plain', 'compressed-tensors']) : pick(RULES);
	const nested = rules !== 'compressed-tensors' && r.below(2);
	const blocks = drawBlocks(r, pick, nested ? 2 + r.below(2) : 1);
	const floats = ['input', 'f32', 'f16', 'bf16', 'f8e4m3', 'f8e5m2', 'e8m0', 'ue4m3', 'ggml_ue4m3'];
	const inner = [...floats, 'u3', 'u6', 'i6', 'u8'];
	const levels = () => blocks.map((block, i) => ({ dtype: pick(i + 1 < blocks.length ? inner : floats), block }));
	const multiplied = rules === 'compressed-tensors' && r.below(5) === 0;
	const integer = INTEGER.test(value);
	const sided = pick(integer ? ['no', 'zero', 'mins'] : value === 'f8e4m3' ? ['no', 'zero'] : ['no']);
	return {
		value,
		scales: multiplied
			? [
					{ dtype: 'f8e4m3', block: blocks[0] },
					{ dtype: 'f32', block: 'tensor' },
				]
			: levels(),
		...(sided === 'zero' && { zero: r.below(6) ? value : pick(DTYPES.filter((name) => INTEGER.test(name))) }),
		...(sided === 'mins' && !multiplied && { mins: levels() }),
		...(sided !== 'no' && r.below(3) === 0 && { symmetric: true }),
		calibration: pick(CALIBRATIONS),
		...(rules !== 'plain' && { rules }),
		layout: r.below(2) ? 'planes' : pick(LAYOUTS),
	};
}

export function drawCase(r) {
	const dtype = ['f32', 'f16', 'bf16'][r.below(3)];
	const rank = 1 + r.below(4);
	const shape = Array.from({ length: rank }, (_, axis) =>
		axis === rank - 1 ? 4 * (1 + r.below(24)) : 1 + r.below(axis === rank - 2 ? 40 : 3),
	);
	const count = shape.reduce((n, d) => n * d);
	const scale = 2 ** (r.below(20) - 12);
	const data = asDtype(
		Float32Array.from({ length: count }, () => (r.below(20) ? scale * r.normal() : 0)),
		dtype,
	);
	return {
		scheme: drawScheme(r),
		shape,
		dtype,
		data,
		correct: r.below(5) === 0,
		bandBytes: [1, 300, 8e6][r.below(3)],
	};
}
