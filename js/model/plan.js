// plan.js - the dry run: for every tensor what it becomes, how many bytes it takes, and why.
// SPDX-License-Identifier: MIT

import { tensorJob } from '../arrays/job.js';
import { containerOf } from '../containers.js';
import { NBYTES } from '../core/abi.js';
import { BlockQuantError, quoted } from '../errors.js';
import { WEIGHT_DTYPES } from '../layouts.js';
import { checkOptions, QUANTIZE_OPTIONS } from './options.js';
import { checkModel } from './open.js';
import { select } from './select.js';
import { countOf } from '../shape.js';

/** @typedef {import('./types.js').Model} Model */
/** @typedef {import('./types.js').ModelTensor} ModelTensor */
/** @typedef {import('./types.js').Target} Target */
/** @typedef {import('../scheme.js').Scheme} Scheme */

/**
 * @typedef {object} PlannedTensor
 * @property {string} name
 * @property {number[]} shape
 * @property {string} dtype
 * @property {string} from the dtype again, as a table's column
 * @property {string} to the scheme's name, or the dtype if the tensor is kept or converted
 * @property {Scheme | null} scheme of its values; null: plain numbers, or kept
 * @property {number} nbytesBefore
 * @property {number} nbytesAfter
 * @property {boolean} quantize its bytes are made anew, by the scheme or as plain numbers
 * @property {string} reason
 * @property {boolean} done kept, because it is already what was asked for
 * @property {boolean} fallback it becomes something else than was asked for
 * @property {Float32Array | null} importance of its columns, for the scheme
 * @property {string[]} warnings
 * @property {boolean} refused selected, but the scheme does not cover its shape: kept as it is
 * @property {{ name: string, dtype: string, shape: number[], nbytes: number }[]} planes the tensors
 *   of the output, under their full names
 */

/**
 * @typedef {object} Plan
 * @property {string} target the name of what the model becomes
 * @property {Scheme | null} scheme null: plain numbers
 * @property {any} stamp what the new files say of it
 * @property {PlannedTensor[]} tensors in the model's order
 * @property {{ tensors: number, quantized: number, nbytesBefore: number, nbytesAfter: number }} totals
 */

/**
 * @typedef {object} TensorOptions what each tensor's job is given
 * @property {boolean} [correct]
 * @property {'error' | 'allow'} [nonfinite]
 * @property {'error' | 'allow'} [overflow]
 */

/** @typedef {import('./types.js').TargetOptions & import('./select.js').SelectOptions & TensorOptions} PlanOptions */

/**
 * Decides everything and writes nothing. Needs `await init()` before.
 * @param {Model} model
 * @param {PlanOptions} options
 * @returns {Plan}
 */
export function plan(model, options) {
	checkModel(model);
	checkOptions(options, QUANTIZE_OPTIONS);
	const container = containerOf(model);
	const target = container.target(model, options);
	const selections = select(model.tensors, container.rules, options);
	const tensors = model.tensors.map((tensor, i) => {
		const selection = selections[i];
		if (!selection?.quantize) return kept(tensor, selection?.reason ?? '');
		return planTensor(tensor, container.floats, target, selection, options);
	});
	checkNames(tensors);
	const quantized = tensors.filter(({ quantize }) => quantize).length;
	if (quantized === 0 && !target.mayCopy && !tensors.some(({ done }) => done)) throw nothingToDo(tensors);
	return {
		target: target.name,
		scheme: target.scheme,
		stamp: target.stamp,
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
 * @param {import('../containers.js').Container['floats']} floats
 * @param {Target} target
 * @param {import('./select.js').Selection} selection
 * @param {PlanOptions} options
 * @returns {PlannedTensor}
 */
function planTensor(tensor, floats, target, { explicit, reason }, options) {
	const { name, shape, dtype, nbytes } = tensor;
	const choice = target.choose(tensor);
	if ('keep' in choice) return { ...kept(tensor, choice.keep), done: choice.done ?? false };
	const values = floats(tensor);
	/** @type {import('./types.js').OutputTensor[]} */
	let planes;
	if (choice.scheme === undefined) planes = [plainOutput(values, choice.dtype)];
	else {
		try {
			const job = jobOf(values, choice, options);
			planes = target.outputs(tensor, job.planes, choice.type ?? '');
		} catch (error) {
			if (!(error instanceof BlockQuantError)) throw error;
			// Only a shape is a matter of this tensor; anything else is wrong for every one.
			if (explicit || error.code !== 'bad-shape') throw error.withTensor(name);
			return { ...kept(tensor, error.detail), refused: true };
		}
	}
	return {
		name,
		shape,
		dtype,
		from: dtype,
		to: choice.scheme === undefined ? choice.dtype : (choice.scheme.name ?? 'custom scheme'),
		scheme: choice.scheme ?? null,
		nbytesBefore: nbytes,
		nbytesAfter: planes.reduce((sum, plane) => sum + plane.nbytes, 0),
		quantize: true,
		reason: choice.why ?? reason,
		done: false,
		fallback: choice.why !== undefined,
		importance: (choice.scheme && choice.importance) ?? null,
		warnings: (choice.scheme && choice.warnings) ?? [],
		refused: false,
		planes,
	};
}

/**
 * @param {ModelTensor} values
 * @param {string} dtype
 */
function plainOutput({ name, shape }, dtype) {
	const width = NBYTES[WEIGHT_DTYPES[dtype]];
	return { name, dtype, shape, nbytes: countOf(shape, width) };
}

/**
 * The job that quantizes one tensor.
 * @param {ModelTensor} tensor of a dtype in WEIGHT_DTYPES
 * @param {{ scheme: Scheme, importance?: Float32Array | null }} choice
 * @param {TensorOptions} options
 */
export function jobOf({ shape, dtype }, { scheme, importance }, options) {
	const { correct, nonfinite, overflow } = options;
	return tensorJob({
		scheme,
		shape,
		dtype: WEIGHT_DTYPES[dtype],
		correct,
		nonfinite,
		overflow,
		imatrix: importance ?? undefined,
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
		scheme: null,
		nbytesBefore: nbytes,
		nbytesAfter: nbytes,
		quantize: false,
		reason,
		done: false,
		fallback: false,
		importance: null,
		warnings: [],
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
	const example = refused ?? tensors.find(({ shape }) => shape.length > 1) ?? tensors[0];
	const such = example ? `such as ${quoted(example.name)}: ${example.reason}` : 'for there is none';
	const why = refused ? `because the scheme refuses all that are, ${such}` : such;
	const place = refused ? {} : { option: 'include' };
	return new BlockQuantError('nothing-to-do', `no tensor is selected to be quantized, ${why}`, place);
}
