// calibrations.test.js - how a block's range is chosen: each calibration against a plain one written here, for blocks of
// rows, blocks over rows and the whole tensor, in both kernel rows and in bands.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asDtype, kernelRows, numbers, random, ready, throughCore } from './support.js';

const SHAPE = [24, 40];
const word = new DataView(new ArrayBuffer(4));

/** A magnitude in units of 2^-149. */
function units(x) {
	word.setFloat32(0, Math.abs(x));
	const bits = word.getUint32(0);
	const exponent = bits >>> 23;
	return exponent ? BigInt((bits & 0x7fffff) | 0x800000) << BigInt(exponent - 1) : BigInt(bits);
}

/** The float32 nearest to numerator / denominator units, half to even. */
function nearest(numerator, denominator) {
	let shift = 0n;
	while (numerator / (denominator << shift) >= 1n << 24n) shift++;
	const by = denominator << shift;
	let quotient = numerator / by;
	const rest = 2n * (numerator % by);
	if (rest > by || (rest === by && quotient & 1n)) quotient++;
	return Number(quotient) * 2 ** (Number(shift) - 149);
}

const mean = (values) =>
	nearest(
		values.reduce((sum, x) => sum + units(x), 0n),
		BigInt(values.length),
	);

/** The values of each block, row-major, blocks too. */
function blocksOf(data, [rows, cols]) {
	const blocks = [];
	for (let top = 0; top < SHAPE[0]; top += rows)
		for (let left = 0; left < SHAPE[1]; left += cols) {
			const block = [];
			for (let y = top; y < Math.min(top + rows, SHAPE[0]); y++)
				for (let x = left; x < Math.min(left + cols, SHAPE[1]); x++) block.push(y * SHAPE[1] + x);
			blocks.push(block.map((at) => ({ x: data[at], col: at % SHAPE[1] })));
		}
	return blocks;
}

/** The largest magnitude of a range of 4-bit codes whose highest is 7, by the least weighted squared error. */
function leastError(block, weights, least) {
	const lo = Math.min(0, ...block.map(({ x }) => x));
	const hi = Math.max(0, ...block.map(({ x }) => x));
	let best = { error: Infinity, amax: 0 };
	for (let percent = 100; percent / 100 >= least; percent--) {
		const amax = Math.max(Math.fround((hi * percent) / 100), -Math.fround((lo * percent) / 100));
		const scale = Math.fround(amax / 7);
		let error = 0;
		for (const { x, col } of block) {
			const quotient = scale ? Math.fround(x / scale) : 0;
			const floor = Math.floor(quotient);
			const even = quotient - floor === 0.5 ? floor + (floor & 1) : Math.round(quotient);
			const off = x - Math.fround(scale * Math.min(7, Math.max(-8, even)));
			error += weights[col] * (off * off);
		}
		if (error < best.error) best = { error, amax };
	}
	return best.amax;
}

const chosen = {
	absmean: (block) => mean(block.map(({ x }) => x)),
	percentile: (block, _, p) => {
		const sorted = block.map(({ x }) => x).sort((a, b) => a - b);
		const rank = Math.ceil((sorted.length * p) / 100);
		return Math.max(0, sorted[rank - 1], -sorted[sorted.length - rank]);
	},
	mse: leastError,
};

for (const kernels of kernelRows)
	test(`${kernels}: ranges are chosen as the calibrations say`, async () => {
		await ready(kernels);
		const r = random(77);
		const ones = new Float32Array(SHAPE[1]).fill(1);
		const importance = Float32Array.from(ones, () => r.next() * 4);
		for (const dtype of ['f32', 'bf16'])
			for (const block of [
				[1, 8],
				[1, 40],
				[1, 7],
				[5, 16],
				[24, 40],
			])
				for (const calibration of ['absmean', { percentile: 99.9 }, { percentile: 75 }, 'mse', { mse: 0.35 }]) {
					const wide = Float32Array.from({ length: 960 }, () =>
						r.below(9) ? r.normal() * 2 ** r.below(30) : 0,
					);
					const data = asDtype(wide, dtype);
					const values =
						dtype === 'f32'
							? data
							: Float32Array.from(data, (code) => {
									word.setUint32(0, code * 65536);
									return word.getFloat32(0);
								});
					const whole = block[0] === 24;
					const imatrix = JSON.stringify(calibration).includes('mse') && r.below(2) ? importance : undefined;
					const scheme = {
						value: 'i4',
						scales: [{ dtype: 'f32', block: whole ? 'tensor' : block }],
						calibration,
					};
					const [name, argument] =
						typeof calibration === 'string' ? [calibration, 0.8] : Object.entries(calibration)[0];
					const expected = blocksOf(values, block).map((each) =>
						Math.fround(chosen[name](each, imatrix ?? ones, argument) / 7),
					);
					for (const bandBytes of [1, 8e6]) {
						const got = throughCore({ data, shape: SHAPE, dtype, scheme, imatrix, bandBytes });
						assert.deepEqual(
							[...numbers(got.stored[1], 'f32')],
							expected,
							`${dtype} ${block} ${JSON.stringify(calibration)}`,
						);
					}
				}
	});

test('a mean of blocks is as exact as that of the tensor, subnormals and the largest included', async () => {
	await ready();
	for (const [values, expected] of [
		[[2 ** -149, 0, 0, 0], 0],
		[[2 ** -149, 2 ** -149, 0, 0], 0],
		[[2 ** -149, 2 ** -149, 2 ** -149, 0], 2 ** -149],
		[
			[3.4028234663852886e38, -3.4028234663852886e38, 3.4028234663852886e38, 3.4028234663852886e38],
			3.4028234663852886e38,
		],
		[[2 ** 100, 2 ** -100, -(2 ** 100), 2 ** 100], 0.75 * 2 ** 100],
		[[16777217 * 2, 16777216, 0, 0].map(Math.fround), 3 * 2 ** 22],
	]) {
		const scheme = (block) => ({
			value: 'i1',
			zero: 'i1',
			symmetric: true,
			scales: [{ dtype: 'f32', block }],
			calibration: 'absmean',
		});
		for (const block of ['tensor', 4]) {
			const got = throughCore({
				data: Float32Array.from(values),
				shape: [1, 4],
				dtype: 'f32',
				scheme: scheme(block),
			});
			assert.equal(numbers(got.stored[1], 'f32')[0], Math.fround(expected * 2), `${values}`);
		}
	}
});
