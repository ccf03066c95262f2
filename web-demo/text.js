// text.js - sizes, counts and times as people read them.
// SPDX-License-Identifier: MIT

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Between a number and its unit: no line is broken there. */
const JOIN = '\u00a0';

/** @param {number} nbytes */
export function sizeText(nbytes) {
	const exponent = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, nbytes)) / 3));
	return `${(nbytes / 1000 ** exponent).toFixed(exponent === 0 ? 0 : 1)}${JOIN}${UNITS[exponent]}`;
}

/** @param {number} count @param {string} noun */
export function countText(count, noun) {
	const digits = String(count).replace(/\B(?=(\d{3})+$)/g, JOIN);
	return `${digits} ${noun}${count === 1 ? '' : 's'}`;
}

/** @param {number} seconds */
export function durationText(seconds) {
	if (seconds < 10) return `${seconds.toFixed(1)}${JOIN}s`;
	if (seconds < 60) return `${Math.round(seconds)}${JOIN}s`;
	const minutes = Math.round(seconds / 60);
	return minutes < 60 ? `${minutes}${JOIN}min` : `${Math.floor(minutes / 60)}${JOIN}h ${minutes % 60}${JOIN}min`;
}

/** @param {number} decibels */
export function decibelText(decibels) {
	if (decibels === Infinity) return 'exact';
	return Number.isFinite(decibels) ? `${decibels.toFixed(1)}${JOIN}dB` : 'no signal';
}

/** @param {number[]} shape */
export function shapeText(shape) {
	return shape.length === 0 ? 'scalar' : shape.join(' × ');
}

/** @param {number} part @param {number} whole */
export function percentText(part, whole) {
	return `${whole === 0 ? 100 : Math.round((100 * part) / whole)}${JOIN}%`;
}
