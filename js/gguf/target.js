// target.js - what a scheme's name means for a GGUF file: the type of each tensor, and the number of the file's type.
// SPDX-License-Identifier: MIT

import { LAYOUTS } from '../core/abi.js';
import { BlockQuantError } from '../errors.js';
import { WEIGHT_DTYPES } from '../layouts.js';
import { asPreset, presetNamed, resolveScheme } from '../presets.js';
import { fileTypeNamed, guessedFileType, typeForRows, fileTypeOfType } from './ftypes.js';
import { importanceOf, importancePairs } from './importance.js';
import { inOrder } from './layout.js';
import { U32, valueOf } from './pairs.js';
import { presetOfType, typeNamed } from './types.js';

/** @typedef {import('../model/types.js').Model} Model */
/** @typedef {import('../model/types.js').ModelTensor} ModelTensor */
/** @typedef {import('../model/types.js').Target} Target */
/** @typedef {import('../scheme.js').Scheme} Scheme */

/** Not a type: everything stays as it is, in the order and layout of a new file. */
const COPY = 'COPY';
const PREFIX = /^ggml:/i;

/**
 * Whether a name means something for GGUF files.
 * @param {string} name
 */
export function isFileType(name) {
	const own = PREFIX.test(name) ? fileTypeOfType(name.replace(PREFIX, '')) : name;
	return own.toUpperCase() === COPY || fileTypeNamed(own) !== undefined;
}

/**
 * @param {Model} model
 * @param {import('../model/types.js').TargetOptions} options
 * @returns {Target}
 */
export function ggufTarget(model, options) {
	const { scheme: given, pure, imatrix } = options;
	const { name, own } = named(given);
	const stamp = { importance: importancePairs(imatrix) };
	if (name.toUpperCase() === COPY) return { ...copyTarget, stamp: { fileType: fileTypeOfCopy(model), ...stamp } };
	const fileType = fileTypeNamed(name) ?? unknown(name);
	const { type } = fileType;
	if (!typeNamed(type)?.quantized) return targetOf(type, null);
	if (!pure) {
		throw new BlockQuantError(
			'unsupported',
			`${fileType.name} mixes several types by a recipe, which is not in this version: with pure every tensor becomes ${type}`,
			{ option: 'pure' },
		);
	}
	// Where all rows fall back to another type, the type itself need not be here.
	return targetOf(type, own ?? presetOfType(type)?.scheme ?? null);

	/**
	 * @param {string} type
	 * @param {Scheme | null} scheme
	 * @returns {Target}
	 */
	function targetOf(type, scheme) {
		return {
			name: scheme?.name ?? type,
			scheme,
			mayCopy: !typeNamed(type)?.quantized,
			choose: (tensor) => choose(tensor, fileType, own, options),
			outputs: ({ name, shape }, [{ nbytes }], dtype) => [{ name, dtype, shape, nbytes }],
			stamp: { fileType: fileType.number, ...stamp },
		};
	}
}

/** @param {string} name @returns {never} */
function unknown(name) {
	// Throws where no family has the name, with the nearest one.
	const { name: other } = presetNamed(name);
	throw new BlockQuantError('unsupported', `a GGUF file carries ggml types, and ${other} is no type of ggml`);
}

const OF_LAYOUT = /^ggml-/;

/**
 * The tool's name of a file type: a bare one is that already, a preset's is a type of tensors.
 * @param {string} name
 */
const fileTypeName = (name) => (PREFIX.test(name) ? fileTypeOfType(name.replace(PREFIX, '')) : name);

/**
 * The tool's name of the file type that is meant, and a scheme of one's own for its tensors: any whose codes and parameters a type's
 * blocks hold. One that names no layout gets that of the preset that says the same.
 * @param {string | Scheme} given
 * @returns {{ name: string, own: Scheme | null }}
 */
function named(given) {
	if (typeof given === 'string') return { name: fileTypeName(given), own: null };
	const scheme = resolveScheme(given);
	const { layout = 'planes' } = scheme;
	const layouts = layout === 'planes' ? LAYOUTS.filter((one) => OF_LAYOUT.test(one)) : [layout];
	const preset = layouts
		.map((one) => asPreset({ ...scheme, layout: one }))
		.find(({ name }) => PREFIX.test(name ?? ''));
	if (preset?.name) return { name: fileTypeName(preset.name), own: null };
	if (OF_LAYOUT.test(layout)) return { name: fileTypeOfType(layout.replace(OF_LAYOUT, '')), own: scheme };
	throw new BlockQuantError(
		'unsupported',
		`a GGUF file carries ggml types, and ${scheme.name ?? `this scheme, in the layout ${layout},`} is none`,
	);
}

/**
 * @param {ModelTensor} tensor that is selected
 * @param {import('./ftypes.js').FileType} fileType
 * @param {Scheme | null} own of tensors of its type
 * @param {import('../model/types.js').TargetOptions} options
 * @returns {import('../model/types.js').Choice}
 */
function choose({ name, dtype, shape }, fileType, own, options) {
	const { type: wanted } = fileType;
	const row = shape.at(-1) ?? 1;
	const type = typeForRows(wanted, row);
	const block = typeNamed(wanted)?.block;
	if (type === null) {
		throw new BlockQuantError(
			'bad-shape',
			`rows of ${row} values are no whole blocks of ${block}, and ${wanted} has no fallback: exclude it`,
			{ tensor: name },
		);
	}
	if (type === dtype) return { keep: `is ${type} already`, done: true };
	if (!(dtype in WEIGHT_DTYPES) && !options.allowRequantize) {
		throw new BlockQuantError(
			'unsupported',
			`is ${dtype} already, and quantizing twice loses more than once: start from a float model`,
			{ tensor: name, option: 'allowRequantize' },
		);
	}
	const why = type === wanted ? undefined : `rows of ${row} are no whole blocks of ${wanted}`;
	if (!typeNamed(type)?.quantized) return { dtype: type, why };
	const { importance, warnings } = importanceOf({ name, shape }, fileType, type, options);
	const scheme = type === wanted && own ? own : presetOfType(type)?.scheme;
	if (scheme !== undefined) return { scheme, type, why, importance, warnings };
	const need = why === undefined ? type : `${why} and need ${type}, which`;
	throw new BlockQuantError('unsupported', `${need} is not in this version`, { tensor: name });
}

/** @type {Target} */
const copyTarget = {
	name: COPY,
	scheme: null,
	mayCopy: true,
	choose: () => ({ keep: 'copied' }),
	outputs: () => [],
	stamp: null,
};

/** @param {Model} model */
function fileTypeOfCopy(model) {
	/** @type {import('./read.js').GgufHeader} */
	const header = model.files[0].header;
	const said = header.pairs.find(({ key }) => key === 'general.file_type');
	return said?.type === U32
		? Number(valueOf(header.bytes, said))
		: guessedFileType(inOrder(model.tensors).map(({ dtype }) => dtype));
}

/**
 * @param {'f32' | 'f16' | 'bf16'} dtype
 */
export function plainStamp(dtype) {
	return { fileType: fileTypeNamed(dtype)?.number ?? 0, importance: [] };
}
