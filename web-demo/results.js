// results.js - on the page: totals, downloads, and size and error by kind of layer.
// SPDX-License-Identifier: MIT

import { bar, byId, make } from './dom.js';
import { countText, decibelText, durationText, percentText, sizeText } from './text.js';

/** @typedef {import('./session.js').Quantized} Quantized */
/** @typedef {import('./session.js').Compared} Compared */

/** Where the bar of errors ends: 8-bit formats are at about 45 dB. */
const FULL_DECIBELS = 60;

/** @type {string[]} addresses of the files that can be downloaded now */
let addresses = [];

export function hideResults() {
	byId('results').hidden = true;
	byId('kinds').hidden = true;
	byId('downloads').replaceChildren();
	for (const address of addresses) URL.revokeObjectURL(address);
	addresses = [];
}

/** @param {Quantized} result */
export function showResults({ totals, seconds, files, tensors }) {
	hideResults();
	const { nbytesBefore, nbytesAfter } = totals;
	const weights = tensors.reduce((sum, { shape }) => sum + shape.reduce((product, edge) => product * edge, 1), 0);
	byId('totals').replaceChildren(
		total(
			`size: ${percentText(nbytesAfter, nbytesBefore)} of the original`,
			`${sizeText(nbytesBefore)} → ${sizeText(nbytesAfter)}`,
		),
		total('bits per weight', `${((8 * nbytesAfter) / Math.max(1, weights)).toFixed(2)}`),
		total('tensors quantized', `${totals.quantized} of ${totals.tensors}`),
		total('time', `${durationText(seconds)}, ${sizeText(nbytesBefore / Math.max(seconds, 1e-3))}/s`),
		total('signal to noise', 'measuring…', 'total-error'),
	);
	byId('downloads').replaceChildren(...files.map((file, i) => download(file, i === 0)));
	if (files.length > 2) byId('downloads').append(downloadAll());
	byId('results').hidden = false;
	byId('results-title').focus({ preventScroll: true });
}

/** @param {string} term @param {string} value @param {string} [id] of the value */
function total(term, value, id = '') {
	return make('div', {}, make('dt', {}, term), make('dd', { id, className: 'numbers' }, value));
}

/** @param {File} file @param {boolean} first */
function download(file, first) {
	const address = URL.createObjectURL(file);
	addresses.push(address);
	return make(
		'a',
		{ href: address, download: file.name, className: first ? 'button primary' : 'button' },
		`Download ${file.name} `,
		make('span', { className: 'button-size' }, sizeText(file.size)),
	);
}

function downloadAll() {
	const button = make('button', { type: 'button', className: 'button' }, 'Download all');
	button.addEventListener('click', async () => {
		for (const link of byId('downloads').querySelectorAll('a')) {
			link.click();
			// Browsers drop downloads that are started at the same moment.
			await new Promise((resolve) => setTimeout(resolve, 300));
		}
	});
	return button;
}

/** What the total says where the error was not measured. @param {string} why */
export function noErrors(why) {
	byId('total-error').textContent = why;
}

/** @param {Compared} compared @param {Quantized['tensors']} rows */
export function showErrors(compared, rows) {
	byId('total-error').textContent = decibelText(totalError(compared, rows));
	const kindOf = new Map(compared.tensors.map(({ name, kind }) => [name, kind]));
	/** @type {Map<string, { before: number, after: number }>} */
	const sizes = new Map();
	for (const { name, nbytesBefore, nbytesAfter } of rows) {
		const kind = kindOf.get(name) ?? 'other';
		const size = sizes.get(kind) ?? { before: 0, after: 0 };
		sizes.set(kind, { before: size.before + nbytesBefore, after: size.after + nbytesAfter });
	}
	const largest = Math.max(1, ...[...sizes.values()].map(({ before }) => before));
	const kinds = compared.summary
		.map((kind) => ({ ...kind, ...(sizes.get(kind.kind) ?? { before: 0, after: 0 }) }))
		.sort((a, b) => Number(b.quantized > 0) - Number(a.quantized > 0) || b.before - a.before);
	/** @type {HTMLElement} */ (byId('kinds').querySelector('tbody')).replaceChildren(
		...kinds.map((kind) => kindRow(kind, largest)),
	);
	byId('kinds').hidden = false;
}

/** @param {Compared['summary'][number] & { before: number, after: number }} kind @param {number} largest */
function kindRow({ kind, tensors, sqnrDb, before, after }, largest) {
	const exact = sqnrDb === Infinity;
	return make(
		'tr',
		{},
		make('th', { scope: 'row' }, kind),
		make('td', { className: 'num' }, String(tensors)),
		make(
			'td',
			{},
			make(
				'span',
				{ className: 'track', ariaHidden: 'true' },
				bar(before / largest, 'before'),
				...(after < before ? [bar(after / largest, 'after')] : []),
			),
			make(
				'span',
				{ className: 'numbers' },
				before === after ? sizeText(before) : `${sizeText(before)} → ${sizeText(after)}`,
			),
		),
		make(
			'td',
			{},
			make('span', { className: 'track', ariaHidden: 'true' }, bar(exact ? 0 : sqnrDb / FULL_DECIBELS, 'error')),
			make('span', { className: 'numbers' }, exact ? 'kept exactly' : decibelText(sqnrDb)),
		),
	);
}

/** Of the quantized tensors together: the kept ones would only thin the error out. @param {Compared} compared @param {Quantized['tensors']} rows */
function totalError({ tensors }, rows) {
	const quantized = new Set(rows.filter(({ quantize }) => quantize).map(({ name }) => name));
	let [signal, noise] = [0, 0];
	for (const { name, shape, mse, sqnrDb } of tensors) {
		if (!quantized.has(name) || mse === 0) continue;
		const error = mse * shape.reduce((product, edge) => product * edge, 1);
		noise += error;
		signal += error * 10 ** (sqnrDb / 10);
	}
	return noise === 0 ? Infinity : 10 * Math.log10(signal / noise);
}

/** @param {number} count */
export const quantizedText = (count) => `${countText(count, 'tensor')} quantized`;
