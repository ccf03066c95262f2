// modules.js - the quantized weights of a model, found among its stored tensors by their names.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';
import { WEIGHT_DTYPES } from '../layouts.js';
import { moduleJob } from '../model/module-job.js';
import { parameterName } from '../model/names.js';
import { readModuleConfig } from './config-file.js';
import { groupOfColumns, spreadPlane } from './g-idx.js';
import { inferScheme, WEIGHT_PLANES } from './infer.js';
import { schemeFinder } from './match.js';

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
	const argsOf = argsFinder(config == null ? null : readModuleConfig(config));
	const byName = new Map(model.tensors.map((tensor) => [tensor.name, tensor]));
	/** @type {Map<string, QuantizedModule>} */
	const owners = new Map();
	for (const { name } of model.tensors) {
		const module = /^(?:(.*)\.)?weight_scale$/s.exec(name);
		if (module === null) continue;
		const found = await quantizedModule(module[1] ?? '', byName, argsOf(module[1] ?? ''));
		for (const tensor of [...found.tensors, ...found.activations]) owners.set(tensor.name, found);
	}
	addAttention(model.tensors, owners);
	return owners;
}

/** Parameters of an attention module that say how its queries and its KV cache were to be quantized. */
const ATTENTION = /^(?:(.*)\.)?[qkv]_(scale|zero_point)$/s;

/**
 * What belongs to attention goes with a quantized module inside of it, if there is one.
 * @param {ModelTensor[]} tensors
 * @param {Map<string, QuantizedModule>} owners
 */
function addAttention(tensors, owners) {
	const modules = [...new Set(owners.values())];
	for (const tensor of tensors) {
		const attention = ATTENTION.exec(tensor.name);
		const owner = attention && modules.find(({ name }) => name.startsWith(parameterName(attention[1] ?? '', '')));
		if (!owner || owners.has(tensor.name)) continue;
		owner.activations.push(tensor);
		owners.set(tensor.name, owner);
	}
}

/**
 * The arguments that a config says of a module's weights, then those of all others: a stored module is quantized, whatever its
 * class, which a file does not tell.
 * @param {import('./quantization-config.js').QuantizationConfig | null} config
 * @returns {(module: string) => import('./quantization-args.js').QuantizationArgs[]}
 */
function argsFinder(config) {
	if (config === null) return () => [];
	const schemeOf = schemeFinder({ ...config, ignore: [] });
	const all = Object.values(config.config_groups);
	return (module) => [schemeOf(module, CLASSES), ...all].flatMap((scheme) => scheme?.weights ?? []);
}

/** What a quantized module may be. */
const CLASSES = ['Linear', 'Embedding'];

/**
 * @param {string} module
 * @param {Map<string, ModelTensor>} byName
 * @param {import('./quantization-args.js').QuantizationArgs[]} args
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
			...(await inOrder(planes, { shape, args })),
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

/** Planes with one parameter for each group of columns. */
const GROUPED = ['weight_scale', 'weight_zero_point'];

/**
 * The scheme of a module and its planes, seen as one whose columns are in order.
 * @param {QuantizedModule['planes']} planes
 * @param {import('./infer.js').InferHints} hints
 * @returns {Promise<Pick<QuantizedModule, 'scheme' | 'shape' | 'planes'>>}
 */
async function inOrder(planes, hints) {
	const groups = planes.find(({ name }) => name === 'weight_scale')?.shape.at(-1) ?? 1;
	const columns = groups > 1 ? groupOfColumns(await readGroups(planes), groups) : null;
	const inferred = inferScheme(planes, { ...hints, ungrouped: columns !== null });
	if (columns === null) return { ...inferred, planes };
	const spreadAll = planes.map((plane) => {
		if (!GROUPED.includes(plane.name)) return plane;
		const tensor = spreadPlane(plane.tensor, columns);
		return { ...plane, shape: tensor.shape, nbytes: tensor.nbytes, tensor };
	});
	return { ...inferred, planes: spreadAll };
}

/** The values of weight_g_idx, -1 where there are none. @param {QuantizedModule['planes']} planes */
async function readGroups(planes) {
	const tensor = planes.find(({ name }) => name === 'weight_g_idx')?.tensor;
	if (tensor === undefined) return Int32Array.of(-1);
	if (tensor.dtype !== 'I32' || tensor.shape.length !== 1)
		throw new BlockQuantError('bad-file', `weight_g_idx of dtype ${tensor.dtype} and shape [${tensor.shape}]`);
	const bytes = await tensor.read(0, tensor.nbytes);
	return new Int32Array(bytes.slice().buffer);
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
