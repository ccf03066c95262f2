// main.js - the page: what was chosen, what is shown, what the worker is asked.
// SPDX-License-Identifier: MIT

import { Client } from './client.js';
import { byId, make } from './dom.js';
import { disableFormats, showFormats } from './formats.js';
import { hideProgress, showProgress } from './progress.js';
import { hideResults, noErrors, quantizedText, showErrors, showResults } from './results.js';
import { listenForSources } from './sources.js';
import { TensorTable } from './tensors.js';
import { countText, percentText, sizeText } from './text.js';

/** @typedef {import('./session.js').Opened} Opened */
/** @typedef {import('./session.js').Planned} Planned */
/** @typedef {import('./session.js').Quantized} Quantized */

const client = new Client();
const table = new TensorTable();
const buttons = ['sample', 'change', 'quantize'].map((id) => /** @type {HTMLButtonElement} */ (byId(id)));
/** @type {string | undefined} */
let scheme;

listenForSources({
	onFiles: (files) => job(() => open(client.call('open', { files }))),
	onSample: (seed) => job(() => open(client.call('sample', { seed }, showProgress('Making random weights')))),
});
byId('change').addEventListener('click', closeModel);
byId('quantize').addEventListener('click', () => job(quantize));
byId('cancel').addEventListener('click', () => client.call('cancel').catch(showError));

/** One job at a time; what it throws is shown. @param {() => Promise<void>} run */
async function job(run) {
	if (document.body.ariaBusy === 'true') return;
	setBusy(true);
	showError(null);
	try {
		await run();
	} catch (error) {
		showError(error);
	} finally {
		hideProgress();
		setBusy(false);
		keepFocus();
	}
}

/** What had the focus may be gone or disabled: for those who use a keyboard, the next step has it. */
function keepFocus() {
	if (document.activeElement !== document.body && document.activeElement !== null) return;
	const next = byId('formats-card').hidden ? byId('files') : byId('quantize');
	next.focus({ preventScroll: true });
}

/** @param {boolean} busy */
function setBusy(busy) {
	document.body.ariaBusy = String(busy);
	for (const button of buttons) button.disabled = busy;
	/** @type {HTMLInputElement} */ (byId('files')).disabled = busy;
	disableFormats(busy);
}

/** @param {unknown} error null: none */
function showError(error) {
	const message = error instanceof Error ? error.message : String(error);
	const cancelled = error instanceof Error && 'code' in error && error.code === 'cancelled';
	const note = byId('error');
	note.hidden = error === null;
	note.classList.toggle('error', !cancelled);
	note.textContent = error === null ? '' : cancelled ? 'Cancelled. Nothing was written.' : message;
	if (error !== null) note.scrollIntoView({ block: 'nearest' });
}

function closeModel() {
	scheme = undefined;
	hideResults();
	table.hide();
	showError(null);
	showWarnings([]);
	byId('model').hidden = byId('formats-card').hidden = true;
	byId('drop').hidden = false;
	byId('files').focus();
}

/** @param {Promise<Opened>} opening */
async function open(opening) {
	closeModel();
	const model = await opening;
	const { name, tensors, nbytes, files, hasConfig, warnings, offers } = model;
	const chosen = showFormats(offers, nbytes, (name) => choose(name).catch(showError));
	if (chosen === undefined) throw new Error(refusalOf(offers));
	byId('model-name').textContent = name;
	byId('model-facts').textContent = [
		countText(tensors, 'tensor'),
		sizeText(nbytes),
		...(files > 1 ? [countText(files, 'file')] : []),
		...(hasConfig ? ['config.json'] : []),
	].join(' · ');
	showWarnings(warnings);
	byId('drop').hidden = true;
	byId('model').hidden = byId('formats-card').hidden = false;
	await choose(chosen);
}

/** Why no format will do: the reason that lies in the model, before one that lies in a format. @param {Opened['offers']} offers */
function refusalOf(offers) {
	const offer = offers.find(({ code }) => code !== 'unsupported') ?? offers[0];
	return offer?.refusal ?? 'there is no format to choose from';
}

/** Shows what the scheme would do. @param {string} name */
async function choose(name) {
	scheme = name;
	hideResults();
	showError(null);
	/** @type {Planned} */
	const { tensors, totals } = await client.call('plan', { scheme: name });
	// Arrow keys run through the formats faster than plans are made.
	if (scheme !== name) return;
	table.show(tensors);
	const { quantized, nbytesBefore, nbytesAfter } = totals;
	byId('forecast').textContent =
		`${quantizedText(quantized)}: ${sizeText(nbytesBefore)} → ${sizeText(nbytesAfter)}, ${percentText(nbytesAfter, nbytesBefore)}`;
}

async function quantize() {
	if (scheme === undefined) return;
	hideResults();
	/** @type {Quantized} */
	const result = await client.call('quantize', { scheme }, showProgress(`Quantizing to ${scheme}`));
	table.show(result.tensors);
	showResults(result);
	showWarnings(result.warnings);
	const onProgress = showProgress(
		'Measuring the error',
		(perSecond) => `${(perSecond / 1e6).toFixed(0)} M weights/s`,
	);
	try {
		const compared = await client.call('compare', {}, onProgress);
		table.showErrors(compared.tensors);
		showErrors(compared, result.tensors);
	} catch (error) {
		// The files are good all the same.
		noErrors('not measured');
		if (!(error instanceof Error && 'code' in error && error.code === 'cancelled')) throw error;
	}
}

/** @param {string[]} warnings */
function showWarnings(warnings) {
	const list = byId('warnings');
	list.hidden = warnings.length === 0;
	const shown = warnings.slice(0, 5).map((warning) => make('li', {}, warning));
	const more = warnings.length > 5 ? [make('li', {}, `and ${warnings.length - 5} more`)] : [];
	list.replaceChildren(...shown, ...more);
}
