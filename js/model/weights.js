// weights.js - a model seen as its weights: quantized modules found among the stored tensors, and decoded.
// SPDX-License-Identifier: MIT

import { decodeJob } from '../arrays/decode-job.js';
import { MAX_BAND } from '../arrays/plan.js';
import { weightArgsOf } from '../compressed-tensors/config.js';
import { inferScheme, WEIGHT_PLANES } from '../compressed-tensors/infer.js';
import { theCore } from '../core/init.js';
import { BlockQuantError } from '../errors.js';
import { WEIGHT_DTYPES } from '../layouts.js';
import { pieces, readAhead } from './bands.js';
import { parameterName } from './names.js';

/** @typedef {import('./types.js').Model} Model */
/** @typedef {import('./types.js').ModelTensor} ModelTensor */
/** @typedef {import('../scheme.js').Scheme} Scheme */

/**
 * A quantized weight.
 * @typedef {object} QuantizedModule
 * @property {string} module
 * @property {string} name of the weight that it stands for
 * @property {number[]} shape of that weight
 * @property {Scheme} scheme
 * @property {ModelTensor[]} tensors all that hold the weight
 * @property {ModelTensor[]} activations static parameters of its inputs and outputs
 */

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
	const planes = present(['weight', ...WEIGHT_PLANES]);
	const stored = planes.map(({ parameter, tensor: { dtype, shape } }) => ({ name: parameter, dtype, shape }));
	try {
		const shape = await readShape(planes.find(({ parameter }) => parameter === 'weight_shape')?.tensor);
		const found = {
			module,
			name,
			...inferScheme(stored, { shape, args }),
			tensors: planes.map(({ tensor }) => tensor),
			activations: present(ACTIVATION_PLANES).map(({ tensor }) => tensor),
		};
		// Now, so that planes which do not fit one another are refused before anything is written.
		jobOf(found);
		return found;
	} catch (error) {
		throw error instanceof BlockQuantError ? error.withTensor(name) : error;
	}
}

/**
 * @param {QuantizedModule} module
 */
export function jobOf({ module, scheme, shape, tensors }) {
	const planes = tensors.map(({ name, dtype, shape: edges, nbytes }) => ({
		name: name.slice(module === '' ? 0 : module.length + 1),
		dtype,
		shape: edges,
		nbytes,
	}));
	const job = decodeJob({ scheme, shape, planes });
	// In the order that the job takes them.
	const inOrder = job.planes.map((plane) => tensors[planes.findIndex((stored) => stored.name === plane.name)]);
	return { job, tensors: inOrder };
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

/**
 * The bytes of a band in each plane.
 * @param {ModelTensor[]} tensors
 * @param {import('../arrays/plan.js').Band} band
 */
export function readPlanes(tensors, { planes }) {
	return Promise.all(planes.map(({ offset, nbytes }, i) => tensors[i].read(offset, nbytes)));
}

/**
 * The values of a quantized weight, in order.
 * @param {QuantizedModule} module
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<Float32Array>}
 */
export async function* decodeModule(module, signal) {
	try {
		const { job, tensors } = jobOf(module);
		const bands = readAhead(job.bands(MAX_BAND), (band) => readPlanes(tensors, band), signal);
		for await (const { item, bytes } of bands) yield job.decode(item, bytes);
	} catch (error) {
		throw error instanceof BlockQuantError ? error.withTensor(module.name) : error;
	}
}

/**
 * The values of a float tensor, in order.
 * @param {ModelTensor} tensor of a dtype in WEIGHT_DTYPES
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<Float32Array>}
 */
export async function* floatValues(tensor, signal) {
	const dtype = WEIGHT_DTYPES[tensor.dtype];
	const reads = readAhead(pieces(tensor.nbytes), ({ offset, length }) => tensor.read(offset, length), signal);
	for await (const { bytes } of reads) yield toFloat32(bytes, dtype);
}

/**
 * @param {Uint8Array} bytes little-endian values, at any offset of their buffer
 * @param {'f32' | 'f16' | 'bf16'} dtype
 */
function toFloat32(bytes, dtype) {
	const count = bytes.byteLength / (dtype === 'f32' ? 4 : 2);
	const wide = dtype === 'f32' ? bytes.slice() : theCore().convert(dtype, 'f32', count, bytes, count * 4);
	if (wide === null) throw new BlockQuantError('internal', `no conversion from ${dtype}`);
	return new Float32Array(wide.buffer, 0, count);
}
