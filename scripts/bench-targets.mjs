// bench-targets.mjs - the closing lines of `npm run bench`: what its rows come to, beside what is aimed at.
// SPDX-License-Identifier: MIT

/** Types whose search is over a grid: another kind, with aims of its own. */
const IQ_GRID = /^ggml:iq[123]/;
const MEAN = 5;
/** Of one encoder. ggml's own code for the first two is limited by memory nearly as ours is. */
const LEAST = new Map([
	['ggml:q4_0', 2.3],
	['ggml:q4_1', 2.3],
]);
const LEAST_OF_OTHERS = 3.5;
/** Types of 8 and 4 bits: nothing but memory should limit their decoders. */
const AT_MEMORY_SPEED = /^ggml:(q8_0|q4_.|iq4_..|mxfp4|nvfp4)$/;
/** Of the generic path, over the fused kernel of the same preset. */
const GENERIC = 1 / 4;

/** @param {any} row */
const ratio = (row) => row['wasm simd128'] / row['native scalar'];
/** @param {any} row */
const named = ({ preset, op }) => (op === 'encode' ? preset : `${preset} (imatrix)`);
/** @param {any} row */
const aim = ({ preset, op }) => (op === 'encode' && LEAST.get(preset)) || LEAST_OF_OTHERS;

/** @param {any[]} rows */
function printEncoders(rows) {
	const encoders = rows.filter(
		({ preset, path, op }) =>
			path === 'fused' && op !== 'decode' && preset.startsWith('ggml:') && !IQ_GRID.test(preset),
	);
	if (encoders.length === 0) return;
	const mean = Math.exp(encoders.reduce((sum, row) => sum + Math.log(ratio(row)), 0) / encoders.length);
	const least = encoders.reduce((a, b) => (ratio(b) < ratio(a) ? b : a));
	const missing = encoders.filter((row) => ratio(row) < aim(row));
	console.log(
		`\nwasm simd128 over native scalar, ${encoders.length} encoders: fused ones of ggml's types without a grid (iq1, iq2,`,
	);
	console.log(
		'iq3: in their simd128 row the scalar search stands), plain, and with an imatrix where the type heeds one',
	);
	console.log(`  geometric mean ${mean.toFixed(2)} (aim ${MEAN}); least ${ratio(least).toFixed(2)}: ${named(least)}`);
	for (const row of encoders.filter(({ preset, op }) => op === 'encode' && LEAST.has(preset)))
		console.log(`  ${named(row)} ${ratio(row).toFixed(2)} (aim ${aim(row)})`);
	const list = missing.map((row) => `${named(row)} ${ratio(row).toFixed(2)}`).join(', ');
	console.log(`  below their aims (${LEAST_OF_OTHERS} for the others): ${list || 'none'}`);
}

/** @param {any[]} rows */
function printDecoders(rows) {
	const copy = rows.find(({ op }) => op === 'copy')['wasm memcpy'];
	const decoders = rows.filter(
		({ preset, path, op }) => path === 'fused' && op === 'decode' && AT_MEMORY_SPEED.test(preset),
	);
	if (decoders.length === 0) return;
	console.log('\ndecoders of 8 and 4 bits in wasm over memcpy of the floats in wasm (aim 1)');
	console.log(`  ${decoders.map((row) => `${row.preset} ${(row['wasm simd128'] / copy).toFixed(2)}`).join(', ')}`);
}

/** @param {any[]} rows @param {'encode' | 'decode'} op */
function printGeneric(rows, op) {
	const own = rows.filter((row) => row.op === op);
	const pairs = own
		.filter(({ path }) => path === 'generic')
		.map((generic) => ({
			generic,
			fused: own.find(({ preset, path }) => preset === generic.preset && path === 'fused'),
		}))
		.filter(({ fused }) => fused);
	if (pairs.length === 0) return;
	const ratios = pairs.map(
		({ generic, fused }) => `${generic.preset} ${(generic['wasm simd128'] / fused['wasm simd128']).toFixed(2)}`,
	);
	console.log(
		`\ngeneric path over the fused kernel, wasm simd128, ${op} (aim for q4_0 ${GENERIC})\n  ${ratios.join(', ')}`,
	);
}

/** @param {any[]} rows those of the kernels, and that of memcpy */
export function printTargets(rows) {
	printEncoders(rows);
	printDecoders(rows);
	printGeneric(rows, 'encode');
	printGeneric(rows, 'decode');
}
