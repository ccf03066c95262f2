// quant-scheme.js - Burn's QuantScheme, with everything that follows from it.
// SPDX-License-Identifier: MIT

import { given, kind } from '../arguments.js';
import { BlockQuantError, shown } from '../errors.js';
import { BlockSize } from './block-size.js';
import { checkAxes, checkRank } from './check.js';
import { fieldsJson, readFields, storeJson, tensorScaleOf } from './fields.js';
import { QUANT_VALUES } from './tables.js';

/** @typedef {import('./fields.js').QuantSchemeFields} QuantSchemeFields */
/** @typedef {import('./fields.js').QuantStore} QuantStore */

export class QuantScheme {
	/**
	 * @param {QuantSchemeFields} [fields] what serde writes; a block's size may be a plain list
	 * @throws {BlockQuantError} bad-scheme: all that is wrong, each with its field
	 */
	constructor(fields = {}) {
		const { value, store, mode, tensor, block, table } = readFields(fields);
		this.value = value;
		this.store = Object.freeze(store);
		this.mode = mode;
		this.tensor = tensor;
		this.block = block && Object.freeze({ size: new BlockSize(block.edges), dtype: block.dtype });
		this.table = table && Object.freeze(table);
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
		return tensorScaleOf(this);
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
		checkAxes(axes);
		const rank = axes.length;
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
		checkRank(rank);
		const axes = Array.from({ length: rank }, (_, axis) => axis);
		if (![a, b].every((axis) => axes.includes(axis)))
			throw new BlockQuantError('bad-argument', `axes ${shown(a)} and ${shown(b)}: expected two of ${rank}`);
		[axes[a], axes[b]] = [axes[b], axes[a]];
		return this.permuteDims(axes);
	}

	/** The scheme of a tensor of another rank: packed along the last axis where the one it had is gone. @param {number} rank */
	reshapePackingDim(rank) {
		checkRank(rank);
		const { store } = this;
		if (store.kind === 'Native') return this;
		return this.#moved([], { ...store, dim: store.dim >= Math.max(rank, 1) ? 0 : store.dim });
	}

	/** As serde writes it; a table stands beside its fields. */
	toJSON() {
		const { value, store, mode, tensor, block, table } = this;
		return fieldsJson({
			value,
			store,
			mode,
			tensor,
			block: block && { edges: block.size.edges, dtype: block.dtype },
			table,
		});
	}
}

const readQuantScheme = kind((scheme) => scheme instanceof QuantScheme, 'a QuantScheme');

/** @param {unknown} scheme @returns {asserts scheme is QuantScheme} */
export function checkScheme(scheme) {
	given('scheme', scheme, readQuantScheme);
}
