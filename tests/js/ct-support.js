// ct-support.js - what the tests of compressed-tensors' files share: weights, a quantized one as tensors of a file, a file decoded.
// SPDX-License-Identifier: MIT

import { dequantizeModel, memorySink, openModel } from '../../js/index.js';
import { safetensors } from './files-support.js';
import { random } from './support.js';

export const normals = (count, seed = 1) => Float32Array.from({ length: count }, random(seed).normal);

/** The tensors of a quantized weight in a file. */
export const tensorsOf = (module, { planes }) =>
	Object.entries(planes).map(([name, { dtype, shape, bytes }]) => ({
		name: `${module}.${name}`,
		dtype,
		shape,
		data: bytes,
	}));

/** What a file of tensors is dequantized to, by name. */
export async function dequantized(tensors, options) {
	const sink = memorySink();
	const { warnings } = await dequantizeModel(await openModel(safetensors(tensors)), sink, options);
	const model = await openModel(sink.bytes());
	const found = await Promise.all(
		model.tensors.map(async ({ name, dtype, nbytes, read }) => [name, { dtype, bytes: await read(0, nbytes) }]),
	);
	return { tensors: Object.fromEntries(found), warnings };
}
