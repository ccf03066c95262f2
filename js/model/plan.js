// plan.js - the dry run: for every tensor what it becomes, how many bytes it takes, and why.
// SPDX-License-Identifier: MIT

import { tensorJob } from '../arrays/job.js';
import { schemeToArgs } from '../compressed-tensors/args.js';
import { BlockQuantError } from '../errors.js';
import { WEIGHT_DTYPES } from '../layouts.js';
import { resolveScheme } from '../presets.js';
import { structOfScheme } from '../scheme.js';
import { moduleOf, parameterName } from './names.js';
import { checkModel, checkOptions, QUANTIZE_OPTIONS } from './options.js';
import { select } from './select.js';

/** @typedef {import('./types.js').Model} Model */
/** @typedef {import('./types.js').ModelTensor} ModelTensor */
/** @typedef {import('../scheme.js').Scheme} Scheme */

/**
 * @typedef {object} PlannedTensor
 * @property {string} name
 * @property {number[]} shape
 * @property {string} dtype
 * @property {string} from the dtype again, as a table's column
 * @property {string} to the scheme's name, or the dtype if the tensor is kept
 * @property {number} nbytesBefore
 * @property {number} nbytesAfter
 * @property {boolean} quantize
 * @property {string} reason
 * @property {boolean} refused selected, but the scheme does not cover its shape: kept as it is
 * @property {{ name: string, dtype: string, shape: number[], nbytes: number }[]} planes the tensors
 *   of the output, under their full names
 */

/**
 * @typedef {object} Plan
 * @property {Scheme} scheme
 * @property {PlannedTensor[]} tensors in the model's order
 * @property {{ tensors: number, quantized: number, nbytesBefore: number, nbytesAfter: number }} totals
 */

/**
 * @typedef {object} TensorOptions what each tensor's job is given
 * @property {Map<string, Float32Array>} [imatrix] by tensor name
 * @property {boolean} [correct]
 * @property {'error' | 'allow'} [nonfinite]
 * @property {'error' | 'allow'} [overflow]
 */

/**
 * @typedef {{ scheme: string | Scheme } & import('./select.js').SelectOptions & TensorOptions} PlanOptions
 */

/**
 * Decides everything and writes nothing. Needs `await init()` before.
 * @param {Model} model
 * @param {PlanOptions} options
 * @returns {Plan}
 */
export function plan(model, options) {
	checkModel(model);
	checkOptions(options, QUANTIZE_OPTIONS);
	const scheme = schemeForFile(options.scheme);
	const selections = select(model.tensors, options);
	const tensors = model.tensors.map((tensor, i) => {
		const selection = selections[i];
		if (!selection?.quantize) return kept(tensor, selection?.reason ?? '');
		return planTensor(tensor, scheme, selection, options);
	});
	checkNames(tensors);
	const quantized = tensors.filter(({ quantize }) => quantize).length;
	if (quantized === 0) throw nothingToDo(tensors);
	return {
		scheme,
		tensors,
		totals: {
			tensors: tensors.length,
			quantized,
			nbytesBefore: tensors.reduce((sum, { nbytesBefore }) => sum + nbytesBefore, 0),
			nbytesAfter: tensors.reduce((sum, { nbytesAfter }) => sum + nbytesAfter, 0),
		},
	};
}

/**
 * @param {ModelTensor} tensor
 * @param {Scheme} scheme
 * @param {import('./select.js').Selection} selection
 * @param {PlanOptions} options
 * @returns {PlannedTensor}
 */
function planTensor(tensor, scheme, { explicit, reason }, options) {
	const { name, shape, dtype, nbytes } = tensor;
	let job;
	try {
		job = jobOf(tensor, scheme, options);
	} catch (error) {
		if (!(error instanceof BlockQuantError)) throw error;
		// Only a shape is a matter of this tensor; anything else is wrong for every one.
		if (explicit || error.code !== 'bad-shape') throw error.withTensor(name);
		return { ...kept(tensor, error.detail), refused: true };
	}
	const module = moduleOf(name) ?? '';
	return {
		name,
		shape,
		dtype,
		from: dtype,
		to: scheme.name ?? 'custom scheme',
		nbytesBefore: nbytes,
		nbytesAfter: job.nbytes,
		quantize: true,
		reason,
		refused: false,
		planes: job.planes.map((plane) => ({
			name: parameterName(module, plane.name),
			dtype: plane.dtype,
			shape: plane.shape,
			nbytes: plane.nbytes,
		})),
	};
}

/**
 * The job that quantizes one tensor.
 * @param {ModelTensor} tensor of a dtype in WEIGHT_DTYPES
 * @param {Scheme} scheme
 * @param {TensorOptions} options
 */
export function jobOf({ name, shape, dtype }, scheme, options) {
	const { correct, nonfinite, overflow, imatrix } = options;
	return tensorJob({
		scheme,
		shape,
		dtype: WEIGHT_DTYPES[dtype],
		correct,
		nonfinite,
		overflow,
		imatrix: imatrix?.get(name),
	});
}

/**
 * @param {ModelTensor} tensor
 * @param {string} reason
 * @returns {PlannedTensor}
 */
function kept({ name, shape, dtype, nbytes }, reason) {
	return {
		name,
		shape,
		dtype,
		from: dtype,
		to: dtype,
		nbytesBefore: nbytes,
		nbytesAfter: nbytes,
		quantize: false,
		reason,
		refused: false,
		planes: [{ name, dtype, shape, nbytes }],
	};
}

/** @param {PlannedTensor[]} tensors */
function checkNames(tensors) {
	/** @type {Map<string, string>} */
	const owners = new Map();
	for (const { name: owner, planes } of tensors) {
		for (const { name } of planes) {
			const other = owners.get(name);
			if (other !== undefined) {
				const tensor = other === name ? owner : other;
				throw new BlockQuantError('name-clash', `would be written as ${name}, which exists already`, {
					tensor,
				});
			}
			owners.set(name, owner);
		}
	}
}

/** @param {PlannedTensor[]} tensors */
function nothingToDo(tensors) {
	const refused = tensors.find((tensor) => tensor.refused);
	const why = refused
		? `, because the scheme refuses all that are, such as ${refused.name}: ${refused.reason}`
		: '; name some with include, or look at the reasons in the plan of each tensor';
	return new BlockQuantError('nothing-to-do', `no tensor is selected to be quantized${why}`);
}

/**
 * A safetensors file carries compressed-tensors' layouts, made from weights alone.
 * @param {string | Scheme} given
 * @returns {Scheme}
 */
function schemeForFile(given) {
	const scheme = resolveScheme(given, { container: 'safetensors' });
	// Whatever is no scheme at all is refused here, in its own words.
	structOfScheme(scheme);
	const name = scheme.name ?? 'this scheme';
	let args;
	try {
		args = schemeToArgs(scheme);
	} catch (error) {
		if (!(error instanceof BlockQuantError) || error.code === 'bad-scheme') throw error;
		throw new BlockQuantError(
			'unsupported',
			`a safetensors file carries compressed-tensors layouts, and ${name} is none: ${error.detail}`,
			{ cause: error },
		);
	}
	const { weights, input_activations: inputs } = args;
	if (inputs && inputs.dynamic !== true) {
		throw new BlockQuantError(
			'unsupported',
			`${name} has static activation scales, which need calibration data; ` +
				`for a file of weights use ${weightOnly(weights)}`,
		);
	}
	return scheme;
}

/**
 * The preset of the same weights that needs no calibration.
 * @param {{ type?: unknown, num_bits?: unknown, group_size?: unknown }} weights
 */
function weightOnly({ type, num_bits: bits, group_size: group }) {
	if (type === 'float' && bits === 4) return group === 16 ? 'nvfp4a16' : 'mxfp4a16';
	if (type === 'float') return 'fp8_dynamic';
	return `w${bits}a16`;
}
