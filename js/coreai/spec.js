// spec.js - Core AI's QuantizationSpec read from its keyword arguments: every field checked, all problems told at once
// (coreai.md, sections 2 and A; the nested spec of section 12.2 in nested.js).
// SPDX-License-Identifier: MIT

import { refuseConfig } from '../configs.js';
import { shown } from '../errors.js';
import { DTYPES, E8M0, WITH_E8M0, canonical } from './dtypes.js';
import { readGranularity } from './granularity.js';
import { NESTED_FIELDS, checkNested } from './nested.js';
import { isFloat32 } from '../observers/calculators.js';
import { Problems, fraction, isObject, nullable, readFields, word } from '../problems.js';

/** @template T @typedef {import('../problems.js').Reader<T>} Reader */

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
/** What a dumped spec has in addition: it follows from the rest. */
const DERIVED = ['n_bits', 'quant_min', 'quant_max', 'target_dtype'];

/** What follows from a spec's dtype and qscheme. @param {Pick<Spec, 'dtype' | 'qscheme'>} spec @returns {Record<string, any>} */
export function derived({ dtype, qscheme }) {
	const { bits, min, max, target } = /** @type {import('./dtypes.js').DtypeRow} */ (DTYPES.get(dtype));
	const clipped = qscheme === 'symmetric_with_clipping' && min < 0 ? 1 : 0;
	return { n_bits: bits, quant_min: min + clipped, quant_max: max, target_dtype: target };
}

/** @type {Reader<[number | null, number | null]>} */
function readRange(range, at) {
	const legal = (/** @type {unknown} */ end) => end === null || isFloat32(end);
	if (!Array.isArray(range) || range.length !== 2 || !range.every(legal)) {
		const got = Array.isArray(range) ? `[${range.map(shown).join(', ')}]` : shown(range);
		return at.fail(`expected [low, high], each a number that float32 holds or null; got ${got}`);
	}
	const [low, high] = range;
	if (low > 0) at.fail(`0 must lie in the range: the lower end ${low} is above it`);
	if (high < 0) at.fail(`0 must lie in the range: the upper end ${high} is below it`);
	if (low !== null && high !== null && low >= high) at.fail(`the lower end ${low} is not below ${high}`);
	return [low, high];
}

/** Rules between fields. @param {Spec} spec @param {Problems} problems */
function checkTogether(spec, problems) {
	const dtype = DTYPES.get(spec.dtype);
	const power = spec.scale_dtype === E8M0;
	const plain = dtype && (!dtype.integer || power);
	const reason = power && dtype?.integer ? `a scale of ${E8M0}` : spec.dtype;
	if (plain && spec.qscheme && spec.qscheme !== 'symmetric')
		problems.add('qscheme', `${reason} needs symmetric, got ${spec.qscheme}`);
	if (plain && spec.qformulation && spec.qformulation !== 'zp')
		problems.add('qformulation', `${reason} needs zp, got ${spec.qformulation}`);
	if (dtype && power && !WITH_E8M0.includes(spec.dtype))
		problems.add('scale_dtype', `only ${WITH_E8M0.join(', ')} may have scales of ${E8M0}; dtype is ${spec.dtype}`);
	if (spec.qparam_calculator_cls === 'dynamic' && spec.qscheme === 'symmetric_with_clipping')
		problems.add('qparam_calculator_cls', 'dynamic goes with symmetric or asymmetric, not symmetric_with_clipping');
	if (spec.averaging_constant !== undefined && !['moving_average', 'default'].includes(spec.qparam_calculator_cls))
		problems.add('averaging_constant', `the calculator ${spec.qparam_calculator_cls} has none`);
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

/** Words of which some are other names. @param {string[]} words @returns {Reader<string>} */
const named = (words) => (value, at) => word(words)(canonical(value), at);

const FIELDS = {
	dtype: { default: 'int8', read: named([...DTYPES.keys()]) },
	...Object.fromEntries(
		Object.entries(WORDS).map(([field, words]) => [field, { default: words[0], read: word(words) }]),
	),
	granularity: { default: { type: 'per_tensor', axis: null }, read: readGranularity },
	float_range: { default: [null, null], read: readRange },
	scale_dtype: { default: null, read: nullable(named([E8M0])) },
	qparam_qspec: { default: null, read: nullable(readNested) },
	averaging_constant: { default: undefined, read: fraction },
};

/**
 * @param {any} json keyword arguments of QuantizationSpec
 * @param {Problems} at
 * @param {Record<string, import('../problems.js').Field>} [more] fields that are legal there in addition
 * @returns {Spec | undefined} whole, if nothing is wrong
 */
export function readSpec(json, at, more = {}) {
	const spec = /** @type {Spec | undefined} */ (readFields({ ...FIELDS, ...more }, json, at, DERIVED));
	if (!spec) return undefined;
	// The package makes plain fp4 scales powers of two; nested scales are numbers of the nested dtype instead.
	if (spec.scale_dtype === null && spec.dtype === 'float4_e2m1fn_x2' && !spec.qparam_qspec) spec.scale_dtype = E8M0;
	checkTogether(spec, at);
	checkDerived(json, spec, at);
	return spec;
}

/** What is inside again is not read: it has no end, perhaps. @type {Reader<Spec>} */
function readNested(json, at) {
	const isDeeper = isObject(json) && (json.qparam_qspec ?? null) !== null;
	if (isDeeper) at.add('qparam_qspec', 'one spec inside another is the most');
	const spec = readSpec(isDeeper ? { ...json, qparam_qspec: null } : json, at, NESTED_FIELDS);
	if (spec) checkNested(spec, json, at);
	return spec;
}

/** @param {any} json @returns {Spec} @throws {import('../errors.js').BlockQuantError} bad-scheme, naming every field that is wrong */
export function specOf(json) {
	refuseConfig(json);
	const problems = new Problems();
	const spec = readSpec(json, problems);
	problems.check('bad-scheme', 'spec');
	return /** @type {Spec} */ (spec);
}
