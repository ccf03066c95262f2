// progress.js - a bar with rate and time left on a terminal; silence elsewhere.
// SPDX-License-Identifier: MIT

import process from 'node:process';
import { SingleBar } from 'cli-progress';
import { printable } from './errors.js';

/** @typedef {{ tensor: string, done: number, total: number }} Step */

/**
 * Shows the progress of `run` while it runs.
 * @template T
 * @param {(perSecond: number) => string} rateText
 * @param {(onProgress: (step: Step) => void) => Promise<T>} run
 * @param {NodeJS.WritableStream & { isTTY?: boolean }} [stream]
 * @returns {Promise<T>}
 */
export async function withProgress(rateText, run, stream = process.stderr) {
	if (!stream.isTTY) return run(() => {});
	const bar = new SingleBar({
		stream,
		format: '[{bar}] {percentage}%  {rate}  {eta_formatted} left  {tensor}',
		barCompleteChar: '=',
		barIncompleteChar: ' ',
		barsize: 30,
		etaBuffer: 50,
		clearOnComplete: true,
		// Signals are the program's business (signals.js).
		gracefulExit: false,
		hideCursor: null,
	});
	const start = performance.now();
	let started = false;
	try {
		return await run(({ tensor, done, total }) => {
			const seconds = (performance.now() - start) / 1000;
			const payload = { tensor: printable(tensor), rate: rateText(seconds > 0 ? done / seconds : 0) };
			if (started) bar.update(done, payload);
			else bar.start(total, done, payload);
			started = true;
		});
	} finally {
		if (started) bar.stop();
	}
}
