// fields.js - Burn's QuantScheme as JSON: read, every field checked, and written.
// SPDX-License-Identifier: MIT

import { BlockQuantError, shown } from '../errors.js';
import { didYouMean } from '../nearest.js';
import { edgesJson, edgesOfJson } from './edges.js';
import { QUANT_MODES, QUANT_STORES, QUANT_VALUES, SCALE_DTYPES } from './tables.js';

/**
 * Where codes go: each in a byte; or several in a device's own type or a 32-bit word, along an axis that is counted from the
 * last.
 * @typedef {{ kind: 'Native' } | { kind: 'PackedNative' | 'PackedU32', dim: number }} QuantStore
 */

/** @typedef {{ edges: readonly number[], dtype: string }} BlockScale */

/**
 * @typedef {object} QuantSchemeFields
 * @property {string} [value] default Q8F
 * @property {'Native' | { PackedNative: number } | { PackedU32: number }} [store] default PackedU32 along the last axis
 * @property {'Symmetric' | 'Lookup'} [mode]
 * @property {string | null} [tensor] dtype of a tensor-wide scale
 * @property {{ size: number[] | { storage: number[], len: number }, dtype: string } | null} [block]
 * @property {number[]} [table] what a code is worth under Lookup; Burn keeps it beside the scheme
 */

const FIELDS = ['value', 'store', 'mode', 'tensor', 'block', 'table'];
const DEFAULTS = { value: 'Q8F', store: { PackedU32: 0 }, mode: 'Symmetric', tensor: null, block: null };

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

/** Burn's words begin with capitals; what is compared has none. @param {string} word */
const lower = (word) => [word.toLowerCase()];

/**
 * A QuantScheme as it was read.
 * @typedef {object} Fields
 * @property {string} value
 * @property {QuantStore} store
 * @property {'Symmetric' | 'Lookup'} mode
 * @property {string | null} tensor
 * @property {BlockScale | null} block
 * @property {readonly number[] | null} table
 */

/** Reads fields one by one and keeps what is wrong with each. */
class Reader {
	/** @type {string[]} */
	problems = [];

	/** @param {string} field @param {string} problem */
	refuse(field, problem) {
		this.problems.push(`${field}: ${problem}`);
	}

	/** @param {string} field @param {unknown} name @param {string[]} names */
	name(field, name, names) {
		if (names.includes(/** @type {string} */ (name))) return /** @type {string} */ (name);
		this.refuse(field, `expected one of ${names.join(', ')}; got ${shown(name)}${didYouMean(name, names, lower)}`);
		return names[0];
	}

	/** @param {string} where @param {Record<string, unknown>} object @param {string[]} known */
	fields(where, object, known) {
		for (const field of Object.keys(object))
			if (!known.includes(field))
				this.refuse(where + field, `unknown field; expected ${known.join(', ')}${didYouMean(field, known)}`);
	}

	/** @param {unknown} json @returns {QuantStore} */
	store(json) {
		if (json === QUANT_STORES[0]) return { kind: 'Native' };
		const packed = QUANT_STORES.slice(1);
		const [[kind, dim] = [], ...more] = isObject(json) ? Object.entries(json) : [];
		if (more.length || !packed.includes(kind ?? '') || !(Number.isSafeInteger(dim) && Number(dim) >= 0)) {
			const forms = packed.map((name) => `{ "${name}": axis from the last }`).join(' or ');
			this.refuse('store', `expected "Native" or ${forms}; got ${shown(json)}`);
		}
		return { kind: /** @type {'PackedU32'} */ (kind), dim: Number(dim) };
	}

	/** @param {unknown} json @returns {BlockScale | null} */
	block(json) {
		if (json === null) return null;
		if (!isObject(json)) {
			this.refuse('block', `expected { size, dtype } or null, got ${shown(json)}`);
			return null;
		}
		this.fields('block.', json, ['size', 'dtype']);
		const { edges, problem } = edgesOfJson(json.size);
		if (problem !== null) this.refuse('block.size', problem);
		return {
			edges: edges ?? [],
			dtype: this.name('block.dtype', json.dtype, Object.keys(SCALE_DTYPES)),
		};
	}

	/** @param {unknown} table @param {{ mode: string, value: string }} scheme */
	table(table, { mode, value }) {
		if (mode !== 'Lookup') {
			if (table !== undefined) this.refuse('table', `mode ${mode} has none`);
			return null;
		}
		const { bits, isFloat } = QUANT_VALUES[value];
		if (isFloat) this.refuse('value', `a code of ${value} is a float; mode Lookup needs one that is an index`);
		const numbers = Array.isArray(table) && table.length === 2 ** bits && table.every(Number.isFinite);
		if (!numbers)
			this.refuse(
				'table',
				`mode Lookup needs the ${2 ** bits} numbers that the codes of ${value} stand for; got ${shown(table)}`,
			);
		return [.../** @type {number[]} */ (numbers ? table : [])];
	}
}

/**
 * @param {QuantSchemeFields} json what serde writes; a block's size may be a plain list
 * @returns {Fields}
 * @throws {BlockQuantError} bad-scheme: all that is wrong, each with its field
 */
export function readFields(json) {
	const reader = new Reader();
	if (!isObject(json)) throw new BlockQuantError('bad-scheme', `scheme: expected an object, got ${shown(json)}`);
	reader.fields('', json, FIELDS);
	const given = { ...DEFAULTS, ...json };
	const value = reader.name('value', given.value, Object.keys(QUANT_VALUES));
	const store = reader.store(given.store);
	const mode = /** @type {'Symmetric'} */ (reader.name('mode', given.mode, QUANT_MODES));
	const tensor = given.tensor === null ? null : reader.name('tensor', given.tensor, Object.keys(SCALE_DTYPES));
	const block = reader.block(given.block);
	const table = reader.table(json.table, { mode, value });
	if (reader.problems.length) throw new BlockQuantError('bad-scheme', reader.problems.join('; '));
	return { value, store, mode, tensor, block, table };
}

/** As serde writes it; a table stands beside its fields. @param {Fields} fields */
export const fieldsJson = ({ value, store, mode, tensor, block, table }) => ({
	value,
	store: storeJson(store),
	mode,
	tensor,
	block: block && { size: edgesJson(block.edges), dtype: block.dtype },
	...(table && { table: [...table] }),
});

/** @param {QuantStore} store @returns {NonNullable<QuantSchemeFields['store']>} */
export const storeJson = (store) =>
	store.kind === 'Native' ? 'Native' : /** @type {any} */ ({ [store.kind]: store.dim });

/** Dtype of the tensor-wide scale, F32 where neither level is named; null for blocks alone. @param {{ block: unknown, tensor: string | null }} scheme */
export const tensorScaleOf = ({ block, tensor }) => tensor ?? (block ? null : 'F32');
