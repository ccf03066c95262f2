// typed.js - typed arrays as they are: the numbers of any of them, from another realm or a subclass too, as a plain array.
// SPDX-License-Identifier: MIT

const prototype = Object.getPrototypeOf(Uint8Array.prototype);

/** A getter of every typed array, which no subclass can replace. @param {string | symbol} name */
const getter = (name) => /** @type {() => any} */ (Object.getOwnPropertyDescriptor(prototype, name)?.get);

const kindOf = getter(Symbol.toStringTag);
const bufferOf = getter('buffer');
const offsetOf = getter('byteOffset');
const lengthOf = getter('length');

const KINDS = { Float32Array, Float64Array, Int8Array, Int32Array, Uint16Array, Uint32Array, Uint8Array };

/**
 * A plain view of the same numbers, without what a subclass may do to subarray() or length.
 * @template {keyof typeof KINDS} Kind
 * @param {unknown} array
 * @param {Kind[]} kinds that are allowed
 * @returns {InstanceType<typeof KINDS[Kind]> | undefined} undefined for anything else, and for a detached array
 */
export function plainArray(array, kinds) {
	if (!ArrayBuffer.isView(array) || array instanceof DataView) return undefined;
	const kind = /** @type {Kind} */ (kindOf.call(array));
	if (!kinds.includes(kind)) return undefined;
	try {
		return /** @type {any} */ (new KINDS[kind](bufferOf.call(array), offsetOf.call(array), lengthOf.call(array)));
	} catch {
		return undefined;
	}
}
