// repack.js - a quantized tensor in another layout: the same codes and parameters, other bytes.
// SPDX-License-Identifier: MIT

import { DTYPES, NBYTES, ROLES } from '../core/abi.js';
import { theCore } from '../core/init.js';
import { any, optional, optionsOf } from '../arguments.js';
import { sizesOf } from './job.js';
import { bandsOf, MAX_BAND, planTensor } from './plan.js';
import { prepareDecode, storageOf, storedTensor } from './quantize.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */
/** @typedef {import('./quantize.js').QuantizedTensor} QuantizedTensor */
/** @typedef {ReturnType<typeof planTensor>} Planned */

/**
 * What a band has of each role: where it begins among that of the whole tensor, and its bytes.
 * @param {any} plan @param {import('./plan.js').Band} band @returns {{ offset: number, nbytes: number }[]} by role
 */
function partsOf({ scheme }, { struct }) {
	const nothing = { offset: 0, nbytes: 0 };
	return ROLES.map((role) => {
		if (role === 'values') return { offset: struct.value_offset, nbytes: struct.nvalues };
		const [, kind, index = '0'] = /^(scales|mins|zeros)(?:\.(\d))?$/.exec(role) ?? [];
		const level = Number(index);
		const count = kind === 'mins' ? scheme.nmins : kind === 'zeros' ? Number(scheme.zero > 0) : scheme.nscales;
		if (!kind || level >= count) return nothing;
		const dtype =
			kind === 'mins' ? scheme.min[level].dtype : kind === 'zeros' ? scheme.zero : scheme.scale[level].dtype;
		const size = NBYTES[DTYPES[dtype]];
		return { offset: size * struct.cell_offset[level], nbytes: size * struct.ncells[level] };
	});
}

/** Planes of a planned tensor -> codes and parameters by role. @param {Planned} planned @param {Uint8Array[]} stored @param {Map<string, Uint8Array>} parts to be filled */
function unpack({ plan, bytes, planes }, stored, parts) {
	for (const band of bandsOf({ plan, bytes }, MAX_BAND)) {
		const places = partsOf(plan, band);
		const taken = theCore().unpack(
			bytes,
			sizesOf(plan),
			band.struct,
			planes.map((_, p) =>
				stored[p].subarray(band.planes[p].offset, band.planes[p].offset + band.planes[p].nbytes),
			),
			places.map(({ nbytes }) => nbytes),
		);
		taken.forEach((part, role) => {
			if (part.length) parts.get(ROLES[role])?.set(part, places[role].offset);
		});
	}
}

/** And back. @param {Planned} planned @param {Map<string, Uint8Array>} parts @param {Uint8Array[]} stored to be filled */
function pack({ plan, bytes }, parts, stored) {
	for (const band of bandsOf({ plan, bytes }, MAX_BAND)) {
		const places = partsOf(plan, band).map(({ offset, nbytes }, role) =>
			(parts.get(ROLES[role]) ?? new Uint8Array(0)).subarray(offset, offset + nbytes),
		);
		const made = theCore().pack(bytes, sizesOf(plan), band.struct, places);
		made.forEach((part, p) => stored[p].set(part, band.planes[p].offset));
	}
}

const TO = { layout: { default: 'planes', read: any }, packing: optional(any) };

/**
 * The same codes and parameters in another layout. In `planes`, the default, codes stand one a byte, integers with their sign,
 * and each level of parameters as numbers of its dtype: what a kernel of one's own may want, or a test.
 * @param {Parameters<typeof import('./quantize.js').dequantize>[0]} quantized
 * @param {Pick<Scheme, 'layout' | 'packing'>} [to]
 * @returns {QuantizedTensor}
 * @throws {BlockQuantError} as dequantize(), and bad-scheme where the layout cannot hold them; unsupported where only a
 *   preset's own kernel writes it
 */
export function repack(quantized, to = {}) {
	const { layout, packing } = optionsOf(TO, to);
	const { job, count, stored, scheme } = prepareDecode(quantized);
	const { shape } = quantized;
	const { name: _, packing: __, ...said } = scheme;
	const planar = planTensor({ ...said, layout: 'planes' }, shape, job.dtype);
	const parts = new Map(planar.planes.map(({ role, nbytes }) => [role, new Uint8Array(nbytes)]));
	unpack(job.planned, stored, parts);
	const wanted = /** @type {Scheme} */ ({ ...said, layout, ...(packing !== undefined && { packing }) });
	const planned = planTensor(wanted, shape, job.dtype);
	const storage = storageOf(planned);
	if (layout === 'planes') planned.planes.forEach(({ role }, p) => storage[p].set(parts.get(role) ?? storage[p]));
	else pack(planned, parts, storage);
	return storedTensor({ scheme: wanted, planned, stored: storage, count, shape, warnings: [] });
}
