// tensors.js - on the page: the table of tensors. Some hundred rows at a time, so that a model with thousands of tensors
// never holds up the page.
// SPDX-License-Identifier: MIT

import { byId, make } from './dom.js';
import { countText, decibelText, shapeText, sizeText } from './text.js';

/** @typedef {import('./session.js').TensorRow} TensorRow */

const PAGE = 100;

export class TensorTable {
	#card = byId('tensors');
	#body = /** @type {HTMLElement} */ (this.#card.querySelector('tbody'));
	#filter = /** @type {HTMLInputElement} */ (byId('filter'));
	#onlyQuantized = /** @type {HTMLInputElement} */ (byId('only-quantized'));
	#more = byId('more');
	/** @type {TensorRow[]} */
	#tensors = [];
	/** @type {TensorRow[]} those that the filter lets through */
	#matching = [];
	#shown = 0;
	/** @type {Map<string, number>} signal to noise in dB, by the tensor's name */
	#errors = new Map();

	constructor() {
		this.#filter.addEventListener('input', () => this.#restart());
		this.#onlyQuantized.addEventListener('change', () => this.#restart());
		this.#more.addEventListener('click', () => this.#showMore());
	}

	/** @param {TensorRow[]} tensors */
	show(tensors) {
		this.#tensors = tensors;
		this.#errors.clear();
		this.#card.hidden = false;
		this.#restart();
	}

	hide() {
		this.#card.hidden = true;
	}

	/** @param {{ name: string, sqnrDb: number }[]} errors */
	showErrors(errors) {
		this.#errors = new Map(errors.map(({ name, sqnrDb }) => [name, sqnrDb]));
		this.#restart(this.#shown);
	}

	#restart(count = PAGE) {
		const wanted = this.#filter.value.trim().toLowerCase();
		this.#matching = this.#tensors.filter(
			({ name, quantize }) => name.toLowerCase().includes(wanted) && (quantize || !this.#onlyQuantized.checked),
		);
		this.#shown = 0;
		this.#body.replaceChildren();
		const [all, some] = [this.#tensors.length, this.#matching.length];
		byId('tensors-count').textContent = some === all ? `${all}` : `${some} of ${all}`;
		this.#showMore(Math.max(PAGE, Math.min(count, 4 * PAGE)));
	}

	#showMore(count = PAGE) {
		const rest = this.#matching.length - this.#shown;
		// No button for the last few.
		const next = this.#matching.slice(this.#shown, this.#shown + (rest <= count * 1.5 ? rest : count));
		this.#body.append(...next.map((tensor) => this.#row(tensor)));
		this.#shown += next.length;
		const left = this.#matching.length - this.#shown;
		this.#more.hidden = left === 0;
		this.#more.textContent = `Show ${Math.min(PAGE, left)} more of ${countText(left, 'tensor')}`;
	}

	/** @param {TensorRow} tensor */
	#row({ name, shape, from, to, nbytesBefore, nbytesAfter, quantize, refused, reason }) {
		const error = quantize ? this.#errors.get(name) : undefined;
		return make(
			'tr',
			{ className: quantize ? 'quantized' : refused ? 'refused' : 'kept' },
			make('th', { scope: 'row' }, ...breakable(name)),
			make('td', { className: 'numbers' }, shapeText(shape)),
			make('td', {}, from),
			make('td', {}, quantize ? make('span', { className: 'chip' }, to) : 'kept'),
			make('td', { className: 'num' }, sizeText(nbytesBefore)),
			make('td', { className: 'num' }, sizeText(nbytesAfter)),
			make('td', { className: 'num sqnr' }, error === undefined ? '' : decibelText(error)),
			make('td', { className: 'why' }, reason),
		);
	}
}

/** A name that may be broken after its dots. @param {string} name */
function breakable(name) {
	return name.split(/(?<=\.)/).flatMap((part, i) => (i === 0 ? [part] : [make('wbr'), part]));
}
