// modules.js - the quantized weights of a model, found among its stored tensors by their names.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';
import { WEIGHT_DTYPES } from '../layouts.js';
import { moduleJob } from '../model/module-job.js';
import { parameterName } from '../model/names.js';
import { weightArgsOf } from './config.js';
import { inferScheme, WEIGHT_PLANES } from './infer.js';

/** @typedef {import('../model/types.js').Model} Model */
/** @typedef {import('../model/types.js').ModelTensor} ModelTensor */
/** @typedef {import('../model/module-job.js').QuantizedModule} QuantizedModule */

/** Parameters beside a quantized weight that say how its activations were to be quantized. */
const ACTIVATION_PLANES = ['input', 'output'].flatMap((role) => [
	`${role}_scale`,
	`${role}_zero_point`,
	`${role}_global_scale`,
]);

/**
 * The quantized modules of a model, by the name of each tensor that belongs to one.
 * @param {Model} model
 * @param {string | Uint8Array | null} [config] its config.json, which says what shapes alone cannot
 * @returns {Promise<Map<string, QuantizedModule>>}
 */
export async function quantizedModules(model, config) {
	const args = config == null ? [] : weightArgsOf(config);
	const byName = new Map(model.tensors.map((tensor) => [tensor.name, tensor]));
	/** @type {Map<string, QuantizedModule>} */
	const owners = new Map();
	for (const { name } of model.tensors) {
		const module = /^(?:(.*)\.)?weight_scale$/s.exec(name);
		if (module === null) continue;
		const found = await quantizedModule(module[1] ?? '', byName, args);
		for (const tensor of [...found.tensors, ...found.activations]) owners.set(tensor.name, found);
	}
	return owners;
}

/**
 * @param {string} module
 * @param {Map<string, ModelTensor>} byName
 * @param {Record<string, unknown>[]} args
 * @returns {Promise<QuantizedModule>}
 */
async function quantizedModule(module, byName, args) {
	/** @param {string[]} parameters */
	const present = (parameters) =>
		parameters.flatMap((parameter) => {
			const tensor = byName.get(parameterName(module, parameter));
			return tensor === undefined ? [] : [{ parameter, tensor }];
		});
	const name = parameterName(module, 'weight');
	const planes = present(['weight', ...WEIGHT_PLANES]).map(({ parameter, tensor }) => {
		const { dtype, shape, nbytes } = tensor;
		return { name: parameter, dtype, shape, nbytes, tensor };
	});
	const scale = byName.get(parameterName(module, 'weight_scale'));
	try {
		const shape = await readShape(planes.find((plane) => plane.name === 'weight_shape')?.tensor);
		const found = {
			name,
			...inferScheme(planes, { shape, args }),
			planes,
			tensors: planes.map(({ tensor }) => tensor),
			activations: present(ACTIVATION_PLANES).map(({ tensor }) => tensor),
			dtype: WEIGHT_DTYPES[scale?.dtype ?? ''] ?? 'bf16',
		};
		// Now, so that planes which do not fit one another are refused before anything is written.
		moduleJob(found);
		return found;
	} catch (error) {
		throw error instanceof BlockQuantError ? error.withTensor(name) : error;
	}
}

/**
 * The values of weight_shape.
 * @param {ModelTensor | undefined} tensor
 */
async function readShape(tensor) {
	if (tensor === undefined) return undefined;
	const { dtype, nbytes } = tensor;
	const width = dtype === 'I64' ? 8 : dtype === 'I32' ? 4 : 0;
	if (width === 0 || nbytes < width || nbytes > 8 * width) {
		throw new BlockQuantError('bad-file', `weight_shape of dtype ${dtype} and shape [${tensor.shape}]`);
	}
	const bytes = await tensor.read(0, nbytes);
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	return Array.from({ length: nbytes / width }, (_, i) => {
		const edge = width === 8 ? Number(view.getBigInt64(8 * i, true)) : view.getInt32(4 * i, true);
		if (!Number.isSafeInteger(edge) || edge < 0) {
			throw new BlockQuantError('bad-file', `weight_shape holds ${edge}`);
		}
		return edge;
	});
}
