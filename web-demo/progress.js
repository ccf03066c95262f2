// progress.js - on the page: how far a job is, how fast, and how long it will take.
// SPDX-License-Identifier: MIT

import { byId } from './dom.js';
import { durationText, percentText, sizeText } from './text.js';

/** @typedef {import('./session.js').Progress} Progress */

/** The rate is that of the last so many milliseconds: kept tensors are copied faster than others are quantized. */
const WINDOW_MS = 4000;

/**
 * Shows a job until `hideProgress()`.
 * @param {string} phase
 * @param {(perSecond: number) => string} [rateText]
 * @returns {(progress: Progress) => void}
 */
export function showProgress(phase, rateText = (perSecond) => `${sizeText(perSecond)}/s`) {
	const bar = /** @type {HTMLProgressElement} */ (byId('bar'));
	byId('phase').textContent = phase;
	byId('progress-tensor').textContent = '';
	byId('progress-facts').textContent = 'starting';
	bar.removeAttribute('value');
	byId('progress').hidden = false;
	byId('progress').scrollIntoView({ block: 'nearest' });
	/** @type {{ at: number, done: number }[]} */
	const recent = [{ at: performance.now(), done: 0 }];
	return ({ done, total, tensor }) => {
		const now = performance.now();
		recent.push({ at: now, done });
		while (recent.length > 2 && now - recent[0].at > WINDOW_MS) recent.shift();
		const [{ at, done: doneThen }] = recent;
		const perSecond = ((done - doneThen) * 1000) / Math.max(1, now - at);
		bar.value = total === 0 ? 1 : done / total;
		byId('progress-tensor').textContent = tensor;
		const left = perSecond > 0 ? `, ${durationText((total - done) / perSecond)} left` : '';
		byId('progress-facts').textContent = `${percentText(done, total)}, ${rateText(perSecond)}${left}`;
	};
}

export function hideProgress() {
	byId('progress').hidden = true;
}
