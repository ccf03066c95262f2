// formats.js - on the page: the formats to choose from, with the size that each would give this model.
// SPDX-License-Identifier: MIT

import { bar, byId, make } from './dom.js';
import { countText, sizeText } from './text.js';

/** @typedef {import('./session.js').Offer} Offer */

/** Shown first, in this order, and the first that fits is chosen; of a long list these are what most people want. */
const USUAL = [
	...['ct:w4a16', 'ct:nvfp4a16', 'ct:mxfp4a16', 'ct:w8a16', 'ct:fp8_dynamic', 'ct:w4a16_asym'],
	...['ggml:q4_k', 'ggml:q8_0', 'ggml:q6_k', 'ggml:q5_k', 'ggml:q4_0', 'ggml:q3_k'],
];

/** So many are shown in any case. */
const FEWEST = 6;

/**
 * @param {Offer[]} offers
 * @param {number} nbytesBefore
 * @param {(scheme: string) => void} onChoice
 * @returns {string | undefined} the one that is chosen
 */
export function showFormats(offers, nbytesBefore, onChoice) {
	/** @param {Offer} offer */
	const rank = ({ name }) => (USUAL.includes(name) ? USUAL.indexOf(name) : USUAL.length);
	const fitting = offers.filter(({ nbytes }) => nbytes !== null).sort((a, b) => rank(a) - rank(b));
	const chosen = fitting[0]?.name;
	const choices = fitting.map((offer) => formatChoice(offer, nbytesBefore, offer.name === chosen, onChoice));
	const first = Math.max(FEWEST, fitting.filter((offer) => rank(offer) < USUAL.length).length);
	byId('formats').replaceChildren(...choices.slice(0, first));
	byId('more-formats').hidden = choices.length <= first;
	/** @type {HTMLElement} */ (byId('more-formats').querySelector('summary')).textContent =
		`${countText(choices.length - first, 'more format')}`;
	/** @type {HTMLElement} */ (byId('more-formats').querySelector('.formats')).replaceChildren(
		...choices.slice(first),
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
	for (const input of byId('format-group').querySelectorAll('input')) input.disabled = disabled;
}
