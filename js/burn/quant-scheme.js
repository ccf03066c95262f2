// quant-scheme.js - Burn's QuantScheme: read from JSON, checked, with everything that follows from it.
// SPDX-License-Identifier: MIT

import { BlockQuantError, shown } from '../errors.js';
import { didYouMean } from '../nearest.js';
import { BlockSize, edgesOfJson } from './block-size.js';
import { QUANT_MODES, QUANT_STORES, QUANT_VALUES, SCALE_DTYPES } from './tables.js';

/**
 * Where codes go: each in a byte; or several in a device's own type or a 32-bit word, along an axis that is counted from the
 * last.
 * @typedef {{ kind: 'Native' } | { kind: 'PackedNative' | 'PackedU32', dim: number }} QuantStore
 */

/** @typedef {{ size: BlockSize, dtype: string }} BlockScale */

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
			size: new BlockSize(edges ?? []),
			dtype: this.name('block.dtype', json.dtype, Object.keys(SCALE_DTYPES)),
		};
	}

	/** @param {unknown} table @param {QuantScheme} scheme */
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
		return Object.freeze([.../** @type {number[]} */ (numbers ? table : [])]);
	}
}

export class QuantScheme {
	/**
	 * @param {QuantSchemeFields} [fields] what serde writes; a block's size may be a plain list
	 * @throws {BlockQuantError} bad-scheme: all that is wrong, each with its field
	 */
	constructor(fields = {}) {
		const reader = new Reader();
		const given = isObject(fields) ? fields : {};
		if (!isObject(fields)) reader.refuse('scheme', `expected an object, got ${shown(fields)}`);
		reader.fields('', given, FIELDS);
		const { value, store, mode, tensor, block } = { ...DEFAULTS, ...given };
		this.value = reader.name('value', value, Object.keys(QUANT_VALUES));
		this.store = Object.freeze(reader.store(store));
		this.mode = reader.name('mode', mode, QUANT_MODES);
		this.tensor = tensor === null ? null : reader.name('tensor', tensor, Object.keys(SCALE_DTYPES));
		this.block = Object.freeze(reader.block(block));
		this.table = reader.table(given.table, this);
		if (reader.problems.length) throw new BlockQuantError('bad-scheme', reader.problems.join('; '));
		Object.freeze(this);
	}

	/** NVFP4: E2M1 codes, an UE4M3 scale for every 16 values, one F32 scale for all. */
	static nvfp4() {
		return new QuantScheme({
			value: 'E2M1',
			store: { PackedNative: 0 },
			tensor: 'F32',
			block: { size: [16], dtype: 'UE4M3' },
		});
	}

	/** Bits of one code. */
	get sizeBitsValue() {
		return QUANT_VALUES[this.value].bits;
	}

	/** Codes that a device's own type holds. */
	get nativePacking() {
		return QUANT_VALUES[this.value].nativePacking;
	}

	/** Bits of what codes are stored in. */
	get sizeBitsStored() {
		if (this.store.kind === 'PackedU32') return 32;
		return this.sizeBitsValue * (this.store.kind === 'PackedNative' ? this.nativePacking : 1);
	}

	/** Codes in one of those. */
	get numQuants() {
		return this.sizeBitsStored / this.sizeBitsValue;
	}

	/** The axis along which codes are packed, counted from the last; null where each has a byte. */
	get packingDim() {
		return this.store.kind === 'Native' ? null : this.store.dim;
	}

	/** Dtype of the tensor-wide scale, F32 where neither level is named; null for blocks alone. */
	get tensorScale() {
		return this.tensor ?? (this.block ? null : 'F32');
	}

	get numLevels() {
		return (this.block ? 1 : 0) + (this.tensorScale ? 1 : 0);
	}

	/** Dtype of the innermost level. */
	get scaleDtype() {
		return this.block?.dtype ?? /** @type {string} */ (this.tensorScale);
	}

	/** @param {number[]} axes the old axis at each new place @param {QuantStore} store */
	#moved(axes, store) {
		const { value, mode, tensor, block, table } = this.toJSON();
		const size = this.block && axes.length ? this.block.size.permuted(axes.length, axes).toJSON() : block?.size;
		return new QuantScheme({
			value,
			store: storeJson(store),
			mode,
			tensor,
			block: block && { ...block, size: /** @type {NonNullable<typeof size>} */ (size) },
			...(table && { table }),
		});
	}

	/**
	 * The scheme of a tensor whose axes are those of another in this order.
	 * @param {number[]} axes the old axis at each new place; none: nothing moves
	 */
	permuteDims(axes) {
		const { store } = this;
		const rank = axes.length;
		if (axes.some((_, axis) => !axes.includes(axis)))
			throw new BlockQuantError(
				'bad-argument',
				`axes: expected each of 0 to ${rank - 1} once, got ${shown(axes)}`,
			);
		if (store.kind === 'Native' || rank === 0) return this.#moved(axes, store);
		const from = rank - 1 - store.dim;
		if (from < 0)
			throw new BlockQuantError(
				'bad-shape',
				`codes are packed along axis ${store.dim} from the last, which a tensor of ${rank} axes has not`,
			);
		return this.#moved(axes, { ...store, dim: rank - 1 - axes.indexOf(from) });
	}

	/** The scheme of a tensor with two axes exchanged. @param {number} rank @param {number} a @param {number} b */
	swapDims(rank, a, b) {
		const axes = Array.from({ length: rank }, (_, axis) => axis);
		if (![a, b].every((axis) => axes.includes(axis)))
			throw new BlockQuantError('bad-argument', `axes ${a} and ${b}: expected two of ${rank}`);
		[axes[a], axes[b]] = [axes[b], axes[a]];
		return this.permuteDims(axes);
	}

	/** The scheme of a tensor of another rank: packed along the last axis where the one it had is gone. @param {number} rank */
	reshapePackingDim(rank) {
		const { store } = this;
		if (store.kind === 'Native') return this;
		return this.#moved([], { ...store, dim: store.dim >= Math.max(rank, 1) ? 0 : store.dim });
	}

	/** As serde writes it; a table stands beside its fields. */
	toJSON() {
		const { value, mode, tensor, block, table } = this;
		return {
			value,
			store: storeJson(this.store),
			mode: /** @type {'Symmetric' | 'Lookup'} */ (mode),
			tensor,
			block: block && { size: block.size.toJSON(), dtype: block.dtype },
			...(table && { table: [...table] }),
		};
	}
}

/** @param {QuantStore} store @returns {NonNullable<QuantSchemeFields['store']>} */
function storeJson(store) {
	return store.kind === 'Native' ? 'Native' : /** @type {any} */ ({ [store.kind]: store.dim });
}
