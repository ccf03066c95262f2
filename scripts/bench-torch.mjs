// bench-torch.mjs - `npm run bench -- --torch`: w4a16 by our generic path in wasm beside compressed-tensors' own torch, one thread
// each, in turns. BLOCKQUANT_TORCH_PYTHON: a Python that has compressed-tensors (several GB, so scripts/setup.sh leaves it out).
// SPDX-License-Identifier: MIT

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { init, quantize } from '../dist/node.mjs';

const TURNS = 3;
const AIM = 5;
const shape = [4096, 4096];

/** @param {Float32Array} weights @returns {number} Melem/s, best of five */
function ours(weights) {
	let best = Number.POSITIVE_INFINITY;
	for (let round = 0; round < 5; round++) {
		const begin = performance.now();
		quantize(weights, { scheme: 'ct:w4a16', shape });
		best = Math.min(best, performance.now() - begin);
	}
	return weights.length / best / 1e3;
}

/** @param {string} root of the repository */
export async function benchTorch(root) {
	const python = process.env.BLOCKQUANT_TORCH_PYTHON ?? 'python3';
	await init();
	const weights = Float32Array.from(
		{ length: shape[0] * shape[1] },
		() => (Math.random() + Math.random() - 1) * 0.04,
	);
	let torch = 0;
	let wasm = 0;
	for (let turn = 0; turn < TURNS; turn++) {
		try {
			const said = execFileSync(python, [join(root, 'tests/py/bench_torch.py')], {
				encoding: 'utf8',
				stdio: ['ignore', 'pipe', 'pipe'],
			});
			torch = Math.max(torch, Number(said));
		} catch (error) {
			const [why] = String(Reflect.get(Object(error), 'stderr') || error)
				.trim()
				.split('\n')
				.slice(-1);
			throw new Error(
				`${python}: ${why}; \`pip install compressed-tensors==0.20.1\` into an environment, and name its python in BLOCKQUANT_TORCH_PYTHON`,
			);
		}
		wasm = Math.max(wasm, ours(weights));
	}
	console.log(
		`w4a16, 4096 x 4096 of f32, one thread: wasm simd128 ${wasm.toFixed(0)} Melem/s, torch ${torch.toFixed(0)}: ${(wasm / torch).toFixed(1)} times (aim ${AIM})`,
	);
}
