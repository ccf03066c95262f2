// odd.js - what is unusual about a GGUF file although it can be read: for `inspect`.
// SPDX-License-Identifier: MIT

import { quoted } from '../errors.js';
import { fileTypeOf } from './ftypes.js';
import { typeText, U32, valueOf } from './pairs.js';
import { DEFAULT_ALIGNMENT, VERSION } from './read.js';

/** @typedef {import('./split.js').GgufFile} GgufFile */

/** Keys as the format's document asks for them. */
const USUAL_KEY = /^[a-z0-9_]+(\.[a-z0-9_]+)*$/;

/**
 * @param {GgufFile[]} files
 * @returns {string[]}
 */
export function oddities(files) {
	const odd = files.flatMap(oddFile);
	const { header } = files[0];
	const tensors = files.flatMap((file) => file.header.tensors);
	const keys = new Map(header.pairs.map((pair) => [pair.key, pair]));
	if (!keys.has('general.architecture')) odd.push('general.architecture is missing: no runtime can load it');
	if (tensors.some(({ type }) => type.quantized) && !keys.has('general.quantization_version')) {
		odd.push('quantized tensors, but no general.quantization_version');
	}
	const said = keys.get('general.file_type');
	if (said !== undefined && said.type !== U32)
		odd.push(`general.file_type is of type ${typeText(header.bytes, said)}, not u32`);
	else if (said !== undefined && tensors.length > 0) {
		const value = valueOf(header.bytes, said);
		const name = fileTypeOf(Number(value) % 1024);
		if (name === undefined) odd.push(`general.file_type ${value} is none that is known`);
	}
	return odd;
}

/** @param {GgufFile} file */
function oddFile({ name, source, header }) {
	const { version, alignment, pairs, tensors, end } = header;
	/** @type {string[]} */
	const odd = [];
	if (version !== VERSION) odd.push(`version ${version}: it is written as version ${VERSION}`);
	if (alignment !== DEFAULT_ALIGNMENT) odd.push(`data are aligned to ${alignment} bytes, not ${DEFAULT_ALIGNMENT}`);
	if (alignment % 8 !== 0) odd.push(`an alignment of ${alignment} is no multiple of 8, as the format asks`);
	for (const { key, odd: why } of pairs) {
		odd.push(...why.map((each) => `metadata ${quoted(key)}: ${each}`));
		if (!USUAL_KEY.test(key)) odd.push(`metadata ${quoted(key)}: not lower_snake_case parts joined by dots`);
	}
	for (const { name: tensor, nbytes, shape } of tensors) {
		if (nbytes === 0) odd.push(`tensor ${quoted(tensor)} has no elements`);
		if (shape.length === 0) odd.push(`tensor ${quoted(tensor)} has no axes`);
		if (tensor === '') odd.push('a tensor has no name');
	}
	if (tensors.length === 0) odd.push('no tensors');
	else if (end > source.size) odd.push(`${end - source.size} bytes of padding are missing at the end`);
	return odd.map((text) => `${name}: ${text}`);
}
