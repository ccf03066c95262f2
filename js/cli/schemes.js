// schemes.js - `blockquant schemes [NAME]`: the named formats, or one of them in full.
// SPDX-License-Identifier: MIT

import { init, schemes } from '../entry/node.js';
import { resolveScheme } from '../presets.js';
import { valueName } from '../scheme.js';
import { blockFields, packingText } from '../scheme/drawing.js';
import { formatScheme } from '../scheme/object.js';
import { schemeSizes } from '../scheme/sizes.js';
import { decimal, printJson, printLines, shapeText } from './print.js';
import { isPath, schemeOfFile } from './scheme-argument.js';
import { table } from './table.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */
/** @typedef {import('../scheme.js').Block} Block */

/**
 * @param {string | undefined} name
 * @param {{ json?: boolean }} options
 */
export async function schemesCommand(name, { json }) {
	await init();
	if (name !== undefined) return printScheme(name, json);
	const list = schemes();
	if (json) return printJson({ command: 'schemes', schemes: list });
	const rows = list.map((row) => [row.name, decimal(row.bitsPerWeight), blockText(row.block), row.description]);
	printLines(table(['scheme', '>bits per weight', 'block', 'what it is'], rows));
}

/** What the sizes below are of. */
const EXAMPLE = { shape: [4096, 4096], dtype: /** @type {const} */ ('bf16') };

/**
 * @param {string} name
 * @param {boolean | undefined} json
 */
async function printScheme(name, json) {
	const given = isPath(name) ? await schemeOfFile(name) : name;
	const scheme = resolveScheme(given, { container: 'safetensors' });
	const row = schemes().find((one) => one.name === scheme.name);
	const sizes = schemeSizes(scheme, EXAMPLE);
	const planes = sizes.planes.map((plane) => ({ ...plane, bitsPerWeight: (8 * plane.nbytes) / sizes.nvalues }));
	const total = sizes.bitsPerWeight;
	const bits =
		planes[0].role === 'blocks'
			? bitsInBlocks(scheme, total)
			: planes.map(({ name: part, bitsPerWeight }) => ({ part, bitsPerWeight }));
	if (json) {
		printJson({
			...{ command: 'schemes', name: scheme.name, description: row?.description },
			...{ bitsPerWeight: total, bits, planes, example: EXAMPLE, scheme },
		});
		return;
	}
	const example = `a ${shapeText(EXAMPLE.shape)} tensor of ${EXAMPLE.dtype}`;
	printLines(
		`${scheme.name ?? name}: ${row?.description ?? 'a scheme of its own'}`,
		'',
		formatScheme(scheme),
		'',
		`bits per weight in ${example}:`,
		table(
			['  part', '>bits'],
			[...bits, { part: 'together', bitsPerWeight: total }].map((line) => [
				`  ${line.part}`,
				decimal(line.bitsPerWeight, 6),
			]),
		),
		'',
		`stored as (layout ${scheme.layout ?? 'planes'}):`,
		table(
			['  plane', 'dtype', 'shape', '>bytes'],
			planes.map((plane) => [`  ${plane.name}`, plane.dtype, shapeText(plane.shape), plane.nbytes]),
		),
		'',
		drawing(scheme, sizes.codeBits),
	);
}

/** Where the bits go. @param {Scheme} scheme @param {number} codeBits */
function drawing(scheme, codeBits) {
	const fields = blockFields(scheme.layout ?? 'planes');
	if (!fields) return `  ${packingText(scheme, codeBits)}`;
	const last = fields[fields.length - 1];
	return [
		`one block of ${last.at + last.nbytes} bytes:`,
		table(
			['  bytes', 'what'],
			fields.map(({ at, nbytes, what }) => [`  ${nbytes === 1 ? at : `${at} to ${at + nbytes - 1}`}`, what]),
		),
	].join('\n');
}

/**
 * The parts of a format that stores them together in one block. Codes may be narrower there than what they stand for: levels
 * of a table, trits.
 * @param {Scheme} scheme
 * @param {number} total
 */
function bitsInBlocks(scheme, total) {
	const { scales, mins = [] } = scheme;
	/** @type {(what: string) => (level: import('../scheme.js').Level) => { part: string, bitsPerWeight: number }} */
	const share = (what) => (level) => ({
		part: `${what}: ${level.dtype} ${blockText(level.block)}`,
		bitsPerWeight: typeof level.block === 'number' ? bitsOf(level.dtype) / level.block : 0,
	});
	const parameters = [...scales.map(share('scales')), ...mins.map(share('mins'))];
	const codes = parameters.reduce((bits, part) => bits - part.bitsPerWeight, total);
	return [{ part: `codes: ${valueName(scheme)}`, bitsPerWeight: codes }, ...parameters];
}

/** @param {string} dtype its first number is its bits: i4, f16, f8e4m3, e8m0; but a ue4m3 is a byte, too */
function bitsOf(dtype) {
	if (dtype === 'input') return 16;
	return dtype.endsWith('ue4m3') ? 8 : Number(/\d+/.exec(dtype)?.[0]);
}

/** @param {Block} block */
function blockText(block) {
	if (typeof block === 'string') return `per ${block}`;
	return `per ${Array.isArray(block) ? block.join(' x ') : block}`;
}
