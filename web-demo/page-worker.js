// page-worker.js - in the session's worker: workers that the page starts for it, spoken to through a port each. Firefox ESR 153 now and
// then holds up for ever a worker that starts one itself: 9 of 212 runs did, of module workers and classic ones, early and late.
// SPDX-License-Identifier: MIT

/** @typedef {{ start: number, url: string, port: MessagePort } | { end: number }} Order to the page */

/** By number. @type {Map<number, PageWorker>} */
const running = new Map();
let last = 0;

/** As a Worker, for the library. */
export class PageWorker extends EventTarget {
	#number = ++last;
	#port;

	/** @param {string | URL} url */
	constructor(url) {
		super();
		const { port1, port2 } = new MessageChannel();
		this.#port = port1;
		port1.addEventListener('message', ({ data }) => this.dispatchEvent(new MessageEvent('message', { data })));
		port1.addEventListener('messageerror', () => this.dispatchEvent(new MessageEvent('messageerror')));
		port1.start();
		running.set(this.#number, this);
		order({ start: this.#number, url: String(url), port: port2 }, [port2]);
	}

	/** @param {unknown} message @param {Transferable[]} transfer */
	postMessage(message, transfer) {
		this.#port.postMessage(message, transfer);
	}

	terminate() {
		running.delete(this.#number);
		this.#port.close();
		order({ end: this.#number }, []);
	}
}

/** @param {Order} message @param {Transferable[]} transfer */
const order = (message, transfer) => self.postMessage({ order: message }, { transfer });

/** The page tells that a worker does not start or threw. @param {{ number: number, message: string }} failure */
export function failed({ number, message }) {
	running.get(number)?.dispatchEvent(Object.assign(new Event('error', { cancelable: true }), { message }));
}
