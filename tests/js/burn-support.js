// burn-support.js - the golden data of Burn: its functions' rows, its cases, its schemes as ours.
// SPDX-License-Identifier: MIT

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as burn from '../../js/burn/index.js';
import { root } from './support.js';

const read = (name) => readFileSync(join(root, 'tests/golden/burn', name));

/** The rows of a release; seen: the functions that were asked for. */
export function burnFunctions(release) {
	const rows = JSON.parse(read('functions.json'))[release];
	const seen = new Set();
	const of = (fn) => {
		seen.add(fn);
		return rows.filter((row) => row.fn === fn);
	};
	return { rows, of, seen };
}

/** A scheme as the golden data write it, { store: { kind, dim }, block: { size, dtype }, ... }, as Burn's own JSON. */
export function serde({ store, ...fields }) {
	if (!store) return fields;
	return { ...fields, store: store.kind === 'Native' ? 'Native' : { [store.kind]: store.dim } };
}

export const quantScheme = (given) => new burn.QuantScheme(serde(given));

/** All cases of a backend, with what they name read: { input, scheme, bytes, codes, scales, ... }. */
export function burnCases(backend, wanted = () => true) {
	const index = JSON.parse(read('index.json'));
	const data = read('data.bin');
	const region = ([offset, length]) => data.subarray(offset, offset + length);
	const floats = (at) => new Float32Array(Uint8Array.from(region(at)).buffer);
	const inputs = new Map(index.inputs.map(({ name, shape, data: at }) => [name, { shape, data: floats(at) }]));
	const number = (hex) => new Float32Array(Uint32Array.of(Number.parseInt(hex, 16)).buffer)[0];
	return index.cases
		.filter((each) => each.backend === backend && wanted(each))
		.map((each) => ({
			...each,
			...inputs.get(each.input),
			what: `${each.group} ${each.input} ${each.method} ${JSON.stringify(index.schemes[each.scheme])}`,
			scheme: index.schemes[each.scheme],
			bytes: each.bytes && region(each.bytes),
			codes: each.codes && region(each.codes),
			scales: each.scales && floats(each.scales),
			global: each.global ? number(each.global) : null,
			dequantized: each.dequantized && floats(each.dequantized),
			range: each.range && { ...each.range, min: floats(each.range.min), max: floats(each.range.max) },
			q_params: each.q_params && {
				scales: floats(each.q_params.scales),
				global: each.q_params.global && number(each.q_params.global),
			},
		}));
}

/** Releases and backends that the golden data are of. */
export const burnBackends = ['flex-0.23.0-pre.1', 'flex-0.22.1', 'ndarray-0.22.1'];
