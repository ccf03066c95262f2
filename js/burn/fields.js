// fields.js - Burn's QuantScheme as JSON: read, every field checked, and written.
// SPDX-License-Identifier: MIT

import { any, optional } from '../arguments.js';
import { refuseConfig } from '../configs.js';
import { shown } from '../errors.js';
import { didYouMean } from '../nearest.js';
import { Problems, isObject, nullable, readFields as readObject } from '../problems.js';
import { lower, wordOf } from './check.js';
import { edgesJson, readEdges } from './edges.js';
import { QUANT_MODES, QUANT_STORES, QUANT_VALUES, SCALE_DTYPES } from './tables.js';

/**
 * Where codes go: each in a byte; or several in a device's own type or a 32-bit word, along an axis that is counted from the
 * last.
 * @typedef {{ kind: 'Native' } | { kind: 'PackedNative' | 'PackedU32', dim: number }} QuantStore
 */

/** @typedef {{ edges: readonly number[], dtype: string }} BlockScale */

/** @template T @typedef {import('../problems.js').Reader<T>} Reader */

/**
 * @typedef {object} QuantSchemeFields
 * @property {string} [value] default Q8F
 * @property {'Native' | { PackedNative: number } | { PackedU32: number }} [store] default PackedU32 along the last axis
 * @property {'Symmetric' | 'Lookup'} [mode]
 * @property {string | null} [tensor] dtype of a tensor-wide scale
 * @property {{ size: number[] | { storage: number[], len: number }, dtype: string } | null} [block]
 * @property {number[]} [table] what a code is worth under Lookup; Burn keeps it beside the scheme
 */

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

const readScale = wordOf(Object.keys(SCALE_DTYPES));

/** @type {Reader<QuantStore>} */
function readStore(json, at) {
	if (json === QUANT_STORES[0]) return { kind: 'Native' };
	const packed = QUANT_STORES.slice(1);
	const [[kind, dim] = [], ...more] = isObject(json) ? Object.entries(json) : [];
	if (more.length === 0 && packed.includes(kind ?? '') && Number.isSafeInteger(dim) && dim >= 0)
		return { kind: /** @type {'PackedU32'} */ (kind), dim };
	const forms = packed.map((name) => `{ "${name}": axis from the last }`).join(' or ');
	const said = isObject(json) ? kind : json;
	const others = QUANT_STORES.filter((name) => name !== said);
	return at.fail(`expected "Native" or ${forms}; got ${shown(json)}${didYouMean(said, others, lower)}`);
}

const BLOCK = { size: { read: readEdges }, dtype: { read: readScale } };

/** @type {Reader<BlockScale>} */
function readBlock(json, at) {
	const { size, dtype } = readObject(BLOCK, json, at) ?? {};
	return size && dtype && { edges: size, dtype };
}

/** What a code is worth. @param {unknown} table @param {{ mode?: string, value?: string }} scheme @param {Problems} at the scheme */
function readTable(table, { mode, value }, at) {
	if (mode !== 'Lookup') {
		if (mode && table !== undefined) at.add('table', `mode ${mode} has none`);
		return null;
	}
	if (value === undefined) return null;
	const { bits, isFloat } = QUANT_VALUES[value];
	if (isFloat) at.add('value', `a code of ${value} is a float; mode Lookup needs one that is an index`);
	const entries = Array.isArray(table)
		? table.map((entry) => (typeof entry === 'number' ? Math.fround(entry) : NaN))
		: [];
	if (new Set(entries).size === 2 ** bits && entries.every(Number.isFinite))
		return [.../** @type {number[]} */ (table)];
	at.add(
		'table',
		`mode Lookup needs the ${2 ** bits} numbers that the codes of ${value} stand for, each once; got ${shown(table)}`,
	);
	return null;
}

const FIELDS = {
	value: { default: 'Q8F', read: wordOf(Object.keys(QUANT_VALUES)) },
	store: { default: { kind: 'PackedU32', dim: 0 }, read: readStore },
	mode: { default: 'Symmetric', read: wordOf(QUANT_MODES) },
	tensor: { default: null, read: nullable(readScale) },
	block: { default: null, read: nullable(readBlock) },
	table: optional(any),
};

/**
 * @param {QuantSchemeFields} json what serde writes; a block's size may be a plain list
 * @returns {Fields}
 * @throws {import('../errors.js').BlockQuantError} bad-scheme: all that is wrong, each with its field
 */
export function readFields(json) {
	refuseConfig(json);
	const problems = new Problems();
	const read = readObject(FIELDS, json, problems) ?? {};
	const table = readTable(read.table, read, problems);
	problems.check();
	return /** @type {Fields} */ ({ ...read, table });
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
