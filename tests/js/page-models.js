// page-models.js - model files that the tests of the demo page give it: a large one, one of many tensors, and what is no model.
// SPDX-License-Identifier: MIT

import { closeSync, ftruncateSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { headerOf, safetensorsOf } from './cli-support.js';
import { folder } from './page-support.js';

export const WEIGHT = 'model.layers.0.mlp.up_proj.weight';

/** Writes a file into this test's folder; its path. */
export function file(name, bytes) {
	const path = join(folder, name);
	writeFileSync(path, bytes);
	return path;
}

/** 1 GiB of zeros that take no place on the disk. */
export function largeModel() {
	const path = join(folder, 'large.safetensors');
	const shape = [131072, 4096];
	const { bytes, dataNbytes } = headerOf({ [WEIGHT]: { dtype: 'F16', shape, nbytes: 2 ** 30 } });
	const descriptor = openSync(path, 'w');
	writeSync(descriptor, bytes);
	ftruncateSync(descriptor, bytes.length + dataNbytes);
	closeSync(descriptor);
	return path;
}

/** A model of so many small tensors. */
export function manyTensors(count) {
	const values = Array.from({ length: 256 }, (_, i) => Math.sin(i));
	const tensors = Array.from({ length: count }, (_, i) => [
		`model.layers.${i}.mlp.up_proj.weight`,
		{ shape: [2, 128], values },
	]);
	return safetensorsOf(Object.fromEntries(tensors));
}

export const values = (count) => Float32Array.from({ length: count }, (_, i) => Math.sin(i * i));

/** What is no model, or none that can be quantized; and what the page says of it. */
export const BAD = {
	'text.safetensors': ['no model at all, only words\n'.repeat(20), /^text\.safetensors: .*header/],
	'archive.bin': ['PK\x03\x04'.padEnd(64, 'x'), /^archive\.bin: a zip archive .*safetensors first$/],
	'empty.safetensors': ['', /^empty\.safetensors: /],
	'short.safetensors': [
		safetensorsOf({ [WEIGHT]: { shape: [128, 128], values: values(128 * 128) } }).subarray(0, 9000),
		/^short\.safetensors: /,
	],
	'norms.safetensors': [
		safetensorsOf({ 'model.norm.weight': { shape: [128], values: values(128) } }),
		/^no tensor is selected to be quantized/,
	],
};
