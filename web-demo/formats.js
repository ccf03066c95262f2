// formats.js - on the page: the formats to choose from, with the size that each would give this model.
// SPDX-License-Identifier: MIT

import { bar, byId, make } from './dom.js';
import { countText, sizeText } from './text.js';

/** @typedef {import('./session.js').Offer} Offer */

/** Chosen at first, where the model can have it. */
const USUAL = 'ct:w4a16';

/**
 * @param {Offer[]} offers
 * @param {number} nbytesBefore
 * @param {(scheme: string) => void} onChoice
 * @returns {string | undefined} the one that is chosen
 */
export function showFormats(offers, nbytesBefore, onChoice) {
	const fitting = offers.filter(({ nbytes }) => nbytes !== null);
	const chosen = fitting.find(({ name }) => name === USUAL)?.name ?? fitting[0]?.name;
	byId('formats').replaceChildren(
		...fitting.map((offer) => formatChoice(offer, nbytesBefore, offer.name === chosen, onChoice)),
	);
	const refused = offers.filter(({ nbytes }) => nbytes === null);
	const details = byId('refused');
	details.hidden = refused.length === 0;
	/** @type {HTMLElement} */ (details.querySelector('summary')).textContent =
		`${countText(refused.length, 'format')} that this model cannot have`;
	/** @type {HTMLElement} */ (details.querySelector('ul')).replaceChildren(
		...refused.map(({ name, refusal }) => make('li', {}, make('code', {}, name), ` ${refusal}`)),
	);
	return chosen;
}

/** @param {Offer} offer @param {number} before @param {boolean} checked @param {(scheme: string) => void} onChoice */
function formatChoice({ name, bitsPerWeight, description, nbytes }, before, checked, onChoice) {
	const input = make('input', { type: 'radio', name: 'format', value: name, checked });
	input.addEventListener('change', () => onChoice(name));
	const after = nbytes ?? 0;
	return make(
		'label',
		{ className: 'format' },
		input,
		make('span', { className: 'format-name' }, name),
		make('span', { className: 'format-bits numbers' }, `${Number(bitsPerWeight.toFixed(3))} bits`),
		make('span', { className: 'format-text' }, description),
		make('span', { className: 'track', ariaHidden: 'true' }, bar(after / before, 'after')),
		make('span', { className: 'format-size numbers' }, `${sizeText(after)} of ${sizeText(before)}`),
	);
}

/** @param {boolean} disabled */
export function disableFormats(disabled) {
	for (const input of byId('formats').querySelectorAll('input')) input.disabled = disabled;
}
