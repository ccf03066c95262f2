// burn-support.js - the golden data of Burn: its functions' rows, its cases, its schemes as ours.
// SPDX-License-Identifier: MIT

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as burn from '../../js/burn/index.js';
import { asDtype, root } from './support.js';

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

/** The row of rules of each. @type {Record<string, string>} */
const RULES = { 'flex-0.23.0-pre.1': 'burn', 'flex-0.22.1': 'burn-0.22', 'ndarray-0.22.1': 'burn-ndarray' };

const VALUES = { Q8F: 'i8', Q8S: 'i8-narrow', Q4F: 'i4', Q4S: 'i4-narrow', Q2F: 'i2', Q2S: 'i2-narrow' };
const FLOATS = { E4M3: 'f8e4m3', E5M2: 'f8e5m2', E2M1: 'f4e2m1' };
const SCALES = { F32: 'f32', F16: 'f16', BF16: 'bf16', UE8M0: 'e8m0', UE4M3: 'ue4m3' };

function schemeOf({ value, tensor, block }, rules) {
	const whole = { dtype: SCALES[tensor ?? 'F32'], block: 'tensor' };
	const inner = block && { dtype: SCALES[block.dtype], block: block.size.length ? block.size : 1 };
	const scales = !inner ? [whole] : tensor ? [inner, whole] : [inner];
	return { value: VALUES[value] ?? FLOATS[value], scales, rules };
}

/**
 * What Burn itself gets through, and not by a way that the Tensor API does not reach; in dtypes that the core takes. Each case with
 * `core`: what it is given. The core must be ready.
 */
export const burnTensors = () =>
	burnBackends
		.flatMap((backend) => burnCases(backend, (each) => isOfCore(each)))
		// 0.22.1 rounds these to integers, whatever their format.
		.filter(({ backend, scheme }) => RULES[backend] === 'burn' || !FLOATS[scheme.value])
		.map((each) => {
			const dtype = (each.float_dtype ?? 'F32').toLowerCase();
			const scheme = schemeOf(each.scheme, RULES[each.backend]);
			// The mean's order of summation is the machine's: what follows from it is tested.
			const ranges = each.method === 'AbsMean' ? { min: each.range.min, max: each.range.max } : undefined;
			return { ...each, core: { data: asDtype(each.data, dtype), shape: each.shape, dtype, scheme, ranges } };
		});

const isOfCore = ({ codes, group, method, float_dtype: dtype }) =>
	codes && group !== 'refused' && method !== 'flex_direct' && dtype !== 'F64';
