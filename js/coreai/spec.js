// spec.js - Core AI's QuantizationSpec read from its keyword arguments: every field checked, all problems told at once
// (coreai.md, sections 2 and A; the nested spec of section 12.2 in nested.js).
// SPDX-License-Identifier: MIT

import { shown } from '../errors.js';
import { DTYPES, E8M0, WITH_E8M0, canonical } from './dtypes.js';
import { readGranularity } from './granularity.js';
import { NESTED_FIELDS, checkNested } from './nested.js';
import { Problems } from '../problems.js';

/**
 * @typedef {object} Spec a QuantizationSpec with every default filled in
 * @property {string} dtype
 * @property {'symmetric' | 'symmetric_with_clipping' | 'asymmetric'} qscheme
 * @property {'zp' | 'minval'} qformulation
 * @property {import('./granularity.js').Granularity} granularity
 * @property {string} fake_quantize_cls
 * @property {string} qparam_calculator_cls
 * @property {string} range_calculator_cls
 * @property {[number | null, number | null]} float_range
 * @property {string | null} scale_dtype
 * @property {Spec | null} qparam_qspec
 * @property {number} [averaging_constant] of the calculator moving_average
 * @property {string} [parent_dtype] of a nested spec's own scales, an extension
 */

/** Fields with a choice of words; the first is the default. @type {Record<string, string[]>} */
const WORDS = {
	qscheme: ['symmetric', 'symmetric_with_clipping', 'asymmetric'],
	qformulation: ['zp', 'minval'],
	fake_quantize_cls: ['default'],
	qparam_calculator_cls: ['default', 'static', 'moving_average', 'global_minmax', 'dynamic'],
	range_calculator_cls: ['minmax'],
};
const OTHERS = ['granularity', 'float_range', 'scale_dtype', 'qparam_qspec', 'averaging_constant'];
const FIELDS = ['dtype', ...Object.keys(WORDS), ...OTHERS];

/** What a dumped spec has in addition: it follows from the rest. */
const DERIVED = ['n_bits', 'quant_min', 'quant_max', 'target_dtype'];

/** What follows from a spec's dtype and qscheme. @param {Pick<Spec, 'dtype' | 'qscheme'>} spec @returns {Record<string, any>} */
export function derived({ dtype, qscheme }) {
	const { bits, min, max, target } = /** @type {import('./dtypes.js').DtypeRow} */ (DTYPES.get(dtype));
	const clipped = qscheme === 'symmetric_with_clipping' && min < 0 ? 1 : 0;
	return { n_bits: bits, quant_min: min + clipped, quant_max: max, target_dtype: target };
}

/** @param {any} range @param {Problems} problems at float_range @returns {[number | null, number | null]} */
function readRange(range, problems) {
	if (range === undefined) return [null, null];
	const legal = (/** @type {unknown} */ end) => end === null || Number.isFinite(end);
	if (!Array.isArray(range) || range.length !== 2 || !range.every(legal)) {
		const got = Array.isArray(range) ? `[${range.map(shown).join(', ')}]` : shown(range);
		problems.add('', `expected [low, high], each a finite number or null; got ${got}`);
		return [null, null];
	}
	const [low, high] = range;
	if (low > 0) problems.add('', `0 must lie in the range: the lower end ${low} is above it`);
	if (high < 0) problems.add('', `0 must lie in the range: the upper end ${high} is below it`);
	if (low !== null && high !== null && low >= high) problems.add('', `the lower end ${low} is not below ${high}`);
	return [low, high];
}

/** @param {any} json @param {Spec} spec @param {Problems} problems */
function readConstant({ averaging_constant: constant }, spec, problems) {
	if (constant === undefined) return;
	if (typeof constant !== 'number' || !(constant > 0 && constant <= 1))
		problems.add('averaging_constant', `expected a number above 0, at most 1; got ${shown(constant)}`);
	else if (!['moving_average', 'default'].includes(spec.qparam_calculator_cls))
		problems.add('averaging_constant', `the calculator ${spec.qparam_calculator_cls} has none`);
	else spec.averaging_constant = constant;
}

/** Rules between fields. @param {Spec} spec @param {Problems} problems */
function checkTogether(spec, problems) {
	const dtype = DTYPES.get(spec.dtype);
	const power = spec.scale_dtype === E8M0;
	const plain = dtype && (!dtype.integer || power);
	const reason = power && dtype?.integer ? `a scale of ${E8M0}` : spec.dtype;
	if (plain && spec.qscheme !== 'symmetric')
		problems.add('qscheme', `${reason} needs symmetric, got ${spec.qscheme}`);
	if (plain && spec.qformulation !== 'zp')
		problems.add('qformulation', `${reason} needs zp, got ${spec.qformulation}`);
	if (dtype && power && !WITH_E8M0.includes(spec.dtype))
		problems.add('scale_dtype', `only ${WITH_E8M0.join(', ')} may have scales of ${E8M0}; dtype is ${spec.dtype}`);
	if (spec.qparam_calculator_cls === 'dynamic' && spec.qscheme === 'symmetric_with_clipping')
		problems.add('qparam_calculator_cls', 'dynamic goes with symmetric or asymmetric, not symmetric_with_clipping');
	if (power && spec.qparam_qspec)
		problems.add('qparam_qspec', `a scale of ${E8M0} is a code of 8 bits already; expected scale_dtype null`);
}

/** Derived fields may be there if they say what follows anyway. @param {any} json @param {Spec} spec @param {Problems} problems */
function checkDerived(json, spec, problems) {
	if (!DTYPES.has(spec.dtype)) return;
	const follows = derived(spec);
	for (const field of DERIVED)
		if (json[field] !== undefined && json[field] !== follows[field])
			problems.add(field, `${follows[field]} follows from dtype and qscheme; got ${shown(json[field])}`);
}

/**
 * @param {any} json keyword arguments of QuantizationSpec
 * @param {Problems} problems where the spec stands
 * @param {string[]} [more] fields that are legal there in addition
 * @returns {Spec} whole, if nothing was added to the problems
 */
export function readSpec(json, problems, more = []) {
	/** @type {any} */
	const spec = { dtype: 'int8' };
	if (!json || typeof json !== 'object' || Array.isArray(json)) {
		problems.add('', `expected an object of QuantizationSpec's fields, got ${shown(json)}`);
		return spec;
	}
	problems.checkFields(json, [...FIELDS, ...more], DERIVED);
	spec.dtype = canonical(json.dtype === undefined ? 'int8' : json.dtype);
	problems.checkWord('dtype', spec.dtype, [...DTYPES.keys()]);
	for (const [field, words] of Object.entries(WORDS)) {
		spec[field] = json[field] === undefined ? words[0] : json[field];
		problems.checkWord(field, spec[field], words);
	}
	spec.granularity = readGranularity(
		json.granularity === undefined ? { type: 'per_tensor' } : json.granularity,
		problems.within('granularity'),
	);
	spec.float_range = readRange(json.float_range, problems.within('float_range'));
	spec.qparam_qspec = readNested(json.qparam_qspec, problems.within('qparam_qspec'));
	// The package makes plain fp4 scales powers of two; nested scales are numbers of the nested dtype instead.
	const scale = json.scale_dtype ?? (spec.dtype === 'float4_e2m1fn_x2' && !spec.qparam_qspec ? E8M0 : null);
	spec.scale_dtype = canonical(scale);
	if (spec.scale_dtype !== null && spec.scale_dtype !== E8M0)
		problems.add('scale_dtype', `expected ${E8M0} or null, got ${shown(json.scale_dtype)}`);
	readConstant(json, spec, problems);
	checkTogether(spec, problems);
	checkDerived(json, spec, problems);
	return spec;
}

/** @param {any} json @param {Problems} problems at qparam_qspec @returns {Spec | null} */
function readNested(json, problems) {
	if (json === undefined || json === null) return null;
	const spec = readSpec(json, problems, NESTED_FIELDS);
	checkNested(spec, json, problems);
	return spec;
}

/** @param {any} json @returns {Spec} @throws {import('../errors.js').BlockQuantError} bad-scheme, naming every field that is wrong */
export function specOf(json) {
	const problems = new Problems();
	const spec = readSpec(json, problems);
	problems.check();
	return spec;
}
