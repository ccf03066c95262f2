// gate.js - lets a number of bands in at once, those of the first tensor first: that is what bounds the memory.
// SPDX-License-Identifier: MIT

export class Gate {
	#free;
	/** @type {{ order: number, enter: () => void }[]} by order */
	#waiting = [];

	/** @param {number} places */
	constructor(places) {
		this.places = places;
		this.#free = places;
	}

	/** Resolves when there is a place; leave() gives it back. @param {number} order the least goes first @returns {Promise<void>} */
	enter(order) {
		if (this.#free > 0) {
			this.#free--;
			return Promise.resolve();
		}
		return new Promise((enter) => {
			const after = this.#waiting.findLastIndex((one) => one.order <= order);
			this.#waiting.splice(after + 1, 0, { order, enter });
		});
	}

	leave() {
		const next = this.#waiting.shift();
		if (next) next.enter();
		else this.#free++;
	}
}
