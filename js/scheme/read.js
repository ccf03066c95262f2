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
import { didYouMean } from '../nearest.js';
import { observerProblems } from '../observers/calculators.js';
import { ARGUMENTS, NARROW } from '../scheme.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */
/** @typedef {import('../scheme.js').Activations} Activations */

const FIELDS = [
	...[
		'name',
		'value',
		'scales',
		'zero',
		'symmetric',
		'mins',
		'calibration',
		'rules',
		'layout',
		'packing',
		'activations',
	],
	'observer',
];

/**
 * What is wrong with a field.
 * @typedef {object} Problem
 * @property {string} field such as `scales[0].block`; empty: the scheme as a whole
 * @property {string} rule of docs/schemes.md
 * @property {string} message what was found and what was expected
 */

/** The rules that the words of a field keep, by the field's first word. @type {Record<string, string>} */
const RULE_OF = {
	...{ value: 'bad-value', scales: 'bad-levels', mins: 'bad-levels', zero: 'bad-zero', symmetric: 'bad-zero' },
	...{ calibration: 'bad-calibration', rules: 'bad-rules', layout: 'bad-layout', packing: 'bad-layout' },
};
/** @type {Record<string, string>} */
const RULE_OF_PART = { block: 'bad-block', dtype: 'bad-level-dtype', codebook: 'bad-codebook' };

/** @param {string} field */
function ruleOf(field) {
	const words = field.split(/[.[\]]+/);
	return RULE_OF_PART[words[words.length - 1]] ?? RULE_OF[words[0]] ?? 'bad-field';
}

/** The one field of an object, if it has that one. @param {unknown} value @param {string[]} names */
function onlyField(value, names) {
	if (!value || typeof value !== 'object') return undefined;
	const [[name, argument] = [], ...rest] = Object.entries(value);
	return rest.length === 0 && names.includes(name ?? '')
		? { name: /** @type {string} */ (name), argument }
		: undefined;
}

const NO_ACTIVATIONS = { act_mode: 0, act: { dtype: 0, rank: 0, edge: /** @type {number[]} */ ([]) }, act_scale: 0 };

/** Reads the fields of one scheme, and keeps what is wrong with them. What it cannot read becomes 0. */
class Reader {
	/** @type {Problem[]} */
	problems = [];

	/** @param {string} field @param {string} message */
	refuse(field, message) {
		this.problems.push({ field, rule: ruleOf(field), message });
		return 0;
	}

	/** @param {string} field @param {string[]} names @param {unknown} name */
	indexOf(field, names, name) {
		const index = names.indexOf(/** @type {string} */ (name));
		if (index >= 0) return index;
		return this.refuse(field, `expected one of ${names.join(', ')}; got ${shown(name)}${didYouMean(name, names)}`);
	}

	/** @param {string} field @param {unknown} block @returns {number[]} edges, 0 for a whole axis */
	edges(field, block) {
		if (block === 'tensor') return [];
		if (block === 'channel') return [0];
		const edges = Array.isArray(block) ? block : [block];
		const legal = edges.every((edge) => Number.isInteger(edge) && (edge === -1 || (edge >= 1 && edge < 2 ** 31)));
		if (legal && edges.length >= 1 && edges.length <= MAX_RANK)
			return edges.map((edge) => (edge === -1 ? 0 : edge));
		const expected = `'tensor', 'channel', a group size or 1 to ${MAX_RANK} edges (-1: the whole axis)`;
		this.refuse(field, `expected ${expected}; got ${shown(block)}`);
		return [];
	}

	/** @param {string} field @param {unknown} value @param {string[]} known */
	object(field, value, known) {
		if (!value || typeof value !== 'object' || Array.isArray(value)) {
			this.refuse(field, `expected { ${known.join(', ')} }; got ${shown(value)}`);
			return {};
		}
		for (const name of Object.keys(value))
			if (!known.includes(name)) {
				const at = field ? `${field}.${name}` : name;
				this.refuse(at, `unknown field; expected ${known.join(', ')}${didYouMean(name, known)}`);
			}
		return /** @type {Record<string, any>} */ (value);
	}

	/** @param {string} field @param {unknown} level */
	level(field, level) {
		const { dtype, block } = this.object(field, level, ['dtype', 'block']);
		const edge = this.edges(`${field}.block`, block);
		return { dtype: this.indexOf(`${field}.dtype`, DTYPES, dtype), rank: edge.length, edge };
	}

	/** @param {string} field @param {unknown} levels */
	levels(field, levels) {
		if (Array.isArray(levels) && levels.length <= MAX_LEVELS)
			return levels.map((level, i) => this.level(`${field}[${i}]`, level));
		this.refuse(field, `expected a list of at most ${MAX_LEVELS} levels; got ${shown(levels)}`);
		return [];
	}

	/** @param {unknown} value @returns {{ value: number, narrow: number, codebook: number, table?: Float32Array }} */
	value(value) {
		const codebook = onlyField(value, ['codebook'])?.argument;
		if (codebook !== undefined) return this.codebook(codebook);
		const nothing = { value: 0, narrow: 0, codebook: 0 };
		if (typeof value !== 'string') {
			this.refuse(
				'value',
				`expected the dtype of a code, such as i4, or { codebook: [...] }; got ${shown(value)}`,
			);
			return nothing;
		}
		const narrow = value.endsWith(NARROW);
		const dtype = narrow ? value.slice(0, -NARROW.length) : value;
		const names = DTYPES.filter((name) => name !== 'codebook');
		if (!names.includes(dtype)) return { ...nothing, value: this.indexOf('value', names, dtype) };
		return { value: DTYPES.indexOf(dtype), narrow: narrow ? 1 : 0, codebook: 0 };
	}

	/** @param {unknown} entries */
	codebook(entries) {
		const field = 'value.codebook';
		const list = Array.isArray(entries) ? entries : [];
		if (list.length < 2 || list.length > MAX_CODEBOOK)
			this.refuse(field, `expected a list of 2 to ${MAX_CODEBOOK} numbers`);
		const wrong = list.find((entry) => typeof entry !== 'number' || !Number.isFinite(Math.fround(entry)));
		if (wrong !== undefined) this.refuse(field, `expected finite numbers; got ${shown(wrong)}`);
		const value = DTYPES.indexOf('codebook');
		return { value, narrow: 0, codebook: list.length, table: Float32Array.from(list) };
	}

	/** @param {unknown} calibration */
	calibration(calibration) {
		const given = onlyField(calibration, Object.keys(ARGUMENTS));
		const name = given?.name ?? calibration;
		const index = this.indexOf('calibration', CALIBRATIONS, name);
		const argument = given ? given.argument : (ARGUMENTS[/** @type {string} */ (name)] ?? 0);
		if (typeof argument !== 'number' || !Number.isFinite(argument))
			this.refuse(`calibration.${name}`, `expected a number; got ${shown(argument)}`);
		return { calibration: index, calibration_argument: argument };
	}

	/** @param {unknown} packing @returns {{ pack_into: number, pack_axis: number }} */
	packing(packing) {
		const { into, axis = 0 } = this.object('packing', packing, ['into', 'axis']);
		if (!Number.isInteger(axis) || axis < 0 || axis >= MAX_RANK)
			this.refuse(
				'packing.axis',
				`expected 0 to ${MAX_RANK - 1}, counted from the last axis; got ${shown(axis)}`,
			);
		return { pack_into: this.indexOf('packing.into', PACK_INTO, into), pack_axis: axis };
	}

	/** @param {Activations | undefined} activations */
	activations(activations) {
		if (!activations) return NO_ACTIVATIONS;
		const fields = ['mode', 'value', 'block', 'scale', 'symmetric'];
		const { mode, value, block, scale } = this.object('activations', activations, fields);
		const edge = this.edges('activations.block', block);
		return {
			act_mode: this.indexOf('activations.mode', ACTIVATIONS, mode),
			act: { dtype: this.indexOf('activations.value', DTYPES, value), rank: edge.length, edge },
			act_scale: scale === undefined ? 0 : this.indexOf('activations.scale', DTYPES, scale),
		};
	}

	/** @param {any} scheme */
	scheme(scheme) {
		const given = this.object('', scheme, FIELDS);
		if (given.observer !== undefined)
			for (const { name, message } of observerProblems(given.observer)) this.refuse(`observer${name}`, message);
		const { symmetric = false, calibration = 'minmax', rules = 'plain', layout = 'planes' } = given;
		const scale = this.levels('scales', given.scales);
		const min = this.levels('mins', given.mins === undefined ? [] : given.mins);
		if (typeof symmetric !== 'boolean') this.refuse('symmetric', `expected true or false; got ${shown(symmetric)}`);
		return {
			...this.value(given.value),
			nscales: scale.length,
			scale,
			zero: given.zero === undefined ? 0 : this.indexOf('zero', DTYPES, given.zero),
			symmetric: symmetric ? 1 : 0,
			nmins: min.length,
			min,
			...this.calibration(calibration),
			rules: this.indexOf('rules', RULES, rules),
			layout: this.indexOf('layout', LAYOUTS, layout),
			...this.packing(given.packing ?? { into: 'bytes' }),
			fused: 0,
			...this.activations(given.activations),
		};
	}
}

/**
 * The struct of a scheme object, without a fused kernel (the core goes through its stages), and what is wrong with its words.
 * @param {unknown} scheme
 * @returns {{ struct: any, problems: Problem[] }}
 */
export function readScheme(scheme) {
	const reader = new Reader();
	return { struct: reader.scheme(scheme), problems: reader.problems };
}

/** @param {Problem[]} problems */
export function schemeError(problems) {
	const said = problems.map(({ field, message }) => `${field ? `scheme.${field}` : 'scheme'}: ${message}`);
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
