// read.js - the core's struct of a scheme's JSON, and everything that is wrong with its words.
// SPDX-License-Identifier: MIT

import {
	ACTIVATIONS,
	CALIBRATIONS,
	DTYPES,
	LAYOUTS,
	MAX_CODEBOOK,
	MAX_LEVELS,
	MAX_RANK,
	PACK_INTO,
	RULES,
} from '../core/abi.js';
import { BlockQuantError, shown } from '../errors.js';
import { readObserver } from '../observers/calculators.js';
import { Problems, flag, inside, isObject, readFields, word } from '../problems.js';
import { ARGUMENTS, NARROW } from '../scheme.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */

/** @template T @typedef {import('../problems.js').Reader<T>} Reader */

/**
 * What is wrong with a field.
 * @typedef {object} Problem
 * @property {string} field such as `scales[0].block`; empty: the scheme as a whole
 * @property {string} rule of docs/schemes.md
 * @property {string} message what was found and what was expected
 */

/** The rules that the words of a field keep, by the field's first word. */
const RULE_OF = new Map(
	Object.entries({
		...{ value: 'bad-value', scales: 'bad-levels', mins: 'bad-levels', zero: 'bad-zero', symmetric: 'bad-zero' },
		...{ calibration: 'bad-calibration', rules: 'bad-rules', layout: 'bad-layout', packing: 'bad-layout' },
	}),
);
const RULE_OF_PART = new Map(
	Object.entries({ block: 'bad-block', dtype: 'bad-level-dtype', codebook: 'bad-codebook' }),
);

/** @param {string} field */
function ruleOf(field) {
	const words = field.split(/[.[\]]+/);
	return RULE_OF_PART.get(words[words.length - 1]) ?? RULE_OF.get(words[0]) ?? 'bad-field';
}

/** @param {RegExp} pattern */
const dtypes = (pattern) => DTYPES.filter((dtype) => pattern.test(dtype));

const INTEGERS = dtypes(/^[iu]\d$/);
const ZEROS = dtypes(/^([iu]\d|f8e4m3)$/);
const CODES = dtypes(/^([iu]\d|f[468]e\dm\d|nf4|iq4_nl)$/);
const NARROWED = dtypes(/^i[2-8]$/).map((dtype) => dtype + NARROW);
const SCALES = dtypes(/^(b?f(16|32)|f8.*|.*e[48]m[03]|input)$/);

/** What else a dtype is called: int4, uint4, fp16, float16, bfloat16, e4m3, fp8, float8_e4m3fn, fp4. @param {string} dtype */
function spellingsOf(dtype) {
	const [, kind, bits, rest = ''] = /^([iu]|b?f)(\d+)(e\dm\d)?/.exec(dtype) ?? [];
	if (kind === undefined) return [dtype];
	const long = { i: 'int', u: 'uint', f: 'float', bf: 'bfloat' }[kind];
	return [dtype, `${long}${bits}`, `${kind}p${bits}`, ...(rest ? [rest, `float${bits}_${rest}`, `${rest}fn`] : [])];
}

/** Which of a table's names a word is, as the core counts them. @param {string[]} table @param {string[]} [words] those that are legal @returns {Reader<number>} */
const numbered = (table, words = table) => {
	const read = word(words, table === DTYPES ? spellingsOf : undefined);
	return (value, at) => {
		const known = read(value, at);
		return known === undefined ? undefined : table.indexOf(known);
	};
};

/** @type {Reader<number[]>} edges, 0 for a whole axis */
function readBlock(block, at) {
	if (block === 'tensor') return [];
	if (block === 'channel') return [0];
	// From: a hole is no edge.
	const edges = Array.isArray(block) ? Array.from(block) : [block];
	const legal = edges.every((edge) => Number.isInteger(edge) && (edge === -1 || (edge >= 1 && edge < 2 ** 31)));
	if (legal && edges.length >= 1 && edges.length <= MAX_RANK) return edges.map((edge) => (edge === -1 ? 0 : edge));
	const expected = `'tensor', 'channel', a group size or 1 to ${MAX_RANK} edges (-1: the whole axis)`;
	return at.fail(`expected ${expected}; got ${shown(block)}`);
}

/** @param {number} dtype @param {number[] | undefined} edge */
const levelOf = (dtype, edge) => ({ dtype, rank: edge?.length, edge });

/** The highest code of i1 is 0. */
const INNER = INTEGERS.filter((dtype) => dtype !== 'i1');
const LEVEL = { dtype: { read: numbered(DTYPES, [...SCALES, ...INNER]) }, block: { read: readBlock } };

/** @type {Reader<any[]>} */
function readLevels(levels, at) {
	const expected = `expected a list of at most ${MAX_LEVELS} levels; got ${shown(levels)}`;
	if (!Array.isArray(levels)) return at.fail(expected);
	if (levels.length > MAX_LEVELS) at.add('', expected);
	// From: a hole is a level, too.
	return Array.from(levels, (level, i) => {
		const { dtype, block } = readFields(LEVEL, level, at.within(`[${i}]`)) ?? {};
		return levelOf(dtype, block);
	});
}

const readCode = word([...CODES, ...NARROWED], spellingsOf);

/** @type {Reader<{ value: number, narrow: number, codebook: number, table?: Float32Array }>} */
function readValue(value, at) {
	if (isObject(value)) return readFields({ codebook: { read: readCodebook } }, value, at)?.codebook;
	if (typeof value !== 'string')
		return at.fail(`expected the dtype of a code, such as i4, or { codebook: [...] }; got ${shown(value)}`);
	const code = readCode(value, at);
	if (code === undefined) return undefined;
	return { value: DTYPES.indexOf(code.replace(NARROW, '')), narrow: Number(code.endsWith(NARROW)), codebook: 0 };
}

/** @type {Reader<{ value: number, narrow: number, codebook: number, table: Float32Array }>} */
function readCodebook(entries, at) {
	if (!Array.isArray(entries) || entries.length < 2 || entries.length > MAX_CODEBOOK)
		return at.fail(`expected a list of 2 to ${MAX_CODEBOOK} numbers, got ${shown(entries)}`);
	const wrong = entries.findIndex((entry) => typeof entry !== 'number' || !Number.isFinite(Math.fround(entry)));
	if (wrong >= 0) return at.fail(`expected finite numbers; got ${shown(entries[wrong])}`);
	const value = DTYPES.indexOf('codebook');
	return { value, narrow: 0, codebook: entries.length, table: Float32Array.from(entries) };
}

const readCalibrationName = numbered(CALIBRATIONS);

/** @type {Reader<{ calibration: number | undefined, calibration_argument: number }>} */
function readCalibration(calibration, at) {
	const [[only, given] = [], ...rest] = isObject(calibration) ? Object.entries(calibration) : [];
	const named = rest.length === 0 && Object.keys(ARGUMENTS).includes(only ?? '');
	const name = named ? only : calibration;
	const index = readCalibrationName(name, at);
	if (index === undefined) return { calibration: index, calibration_argument: 0 };
	const argument = named ? given : (ARGUMENTS[name] ?? 0);
	if (typeof argument !== 'number' || !Number.isFinite(argument))
		at.add(name, `expected a number; got ${shown(argument)}`);
	return { calibration: index, calibration_argument: argument };
}

const PACKING = {
	into: { read: numbered(PACK_INTO) },
	axis: { default: 0, read: readAxis },
};

/** @type {Reader<number>} */
function readAxis(axis, at) {
	if (Number.isInteger(axis) && axis >= 0 && axis < MAX_RANK) return axis;
	return at.fail(`expected 0 to ${MAX_RANK - 1}, counted from the last axis; got ${shown(axis)}`);
}

const ACTIVATION = {
	mode: { read: numbered(ACTIVATIONS, ACTIVATIONS.slice(1)) },
	value: { read: numbered(DTYPES, CODES) },
	block: { read: readBlock },
	scale: { default: 0, read: numbered(DTYPES, SCALES) },
	symmetric: { default: true, read: flag },
};

const FIELDS = {
	name: { default: '', read: (/** @type {unknown} */ name) => name },
	value: { read: readValue },
	scales: { read: readLevels },
	zero: { default: 0, read: numbered(DTYPES, ZEROS) },
	symmetric: { default: false, read: flag },
	mins: { default: [], read: readLevels },
	calibration: { default: { calibration: 0, calibration_argument: 0 }, read: readCalibration },
	rules: { default: RULES.indexOf('plain'), read: numbered(RULES) },
	layout: { default: LAYOUTS.indexOf('planes'), read: numbered(LAYOUTS) },
	packing: { default: { into: 0, axis: 0 }, read: fieldsOf(PACKING) },
	activations: { default: { mode: 0, value: 0, block: [], scale: 0 }, read: fieldsOf(ACTIVATION) },
	observer: { default: undefined, read: readObserver },
};

/** Names of a scheme's fields. */
export const SCHEME_FIELDS = Object.keys(FIELDS);

/** @param {Record<string, import('../problems.js').Field>} fields @returns {Reader<Record<string, any>>} */
function fieldsOf(fields) {
	return (json, at) => readFields(fields, json, at);
}

/**
 * The struct of a scheme object, without a fused kernel (the core goes through its stages), and what is wrong with its words.
 * @param {unknown} scheme
 * @returns {{ struct: any, problems: Problem[] }} the struct is of use where there are no problems
 */
export function readScheme(scheme) {
	const problems = new Problems();
	const said = readFields(FIELDS, scheme, problems) ?? {};
	const { value, scales, zero, symmetric, mins, calibration, rules, layout, packing, activations } = said;
	const struct = {
		...value,
		nscales: scales?.length,
		scale: scales,
		zero,
		symmetric: Number(symmetric),
		nmins: mins?.length,
		min: mins,
		...calibration,
		rules,
		layout,
		pack_into: packing?.into,
		pack_axis: packing?.axis,
		fused: 0,
		act_mode: activations?.mode,
		act: levelOf(activations?.value, activations?.block),
		act_scale: activations?.scale,
	};
	return { struct, problems: problems.list.map((problem) => ({ ...problem, rule: ruleOf(problem.field) })) };
}

/** @param {Problem[]} problems */
export function schemeError(problems) {
	const said = problems.map(({ field, rule, message }) => {
		// What the core says cites the rule already.
		const cited = message.includes('(rule ') ? '' : ` (rule ${rule} of docs/schemes.md)`;
		return `${inside('scheme', field)}: ${message}${cited}`;
	});
	const isForeign = ['value', 'scales'].every((field) => problems.some((problem) => problem.field === field));
	if (isForeign) said.push("another system's JSON becomes a scheme by makeScheme()");
	return new BlockQuantError('bad-scheme', said.join('; '));
}

/**
 * The struct of a scheme object.
 * @param {Scheme} scheme
 * @throws {BlockQuantError} bad-scheme: every word that is wrong
 */
export function structOfScheme(scheme) {
	const { struct, problems } = readScheme(scheme);
	if (problems.length) throw schemeError(problems);
	return struct;
}
