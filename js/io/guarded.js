// guarded.js - sinks end well: closed when all is written, aborted whatever fails.
// SPDX-License-Identifier: MIT

import { BlockQuantError, messageOf, shown } from '../errors.js';

/** @typedef {{ close?(): unknown, abort?(): unknown }} Ending */

/**
 * Runs what fills a sink and closes it; if anything fails, closing too, the sink is aborted.
 * @template T
 * @param {Ending} sink a Sink or a DirectorySink
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function guarded(sink, work) {
	checkSink(sink);
	try {
		return await work();
	} catch (error) {
		try {
			await sink.abort?.();
		} catch {
			// What went wrong first is what the caller must hear.
		}
		throw error;
	}
}

/** @param {Ending} sink */
export async function close(sink) {
	await saying('cannot finish writing', async () => sink.close?.());
}

/**
 * What a caller's sink throws, as an error of ours.
 * @template T
 * @param {string} doing
 * @param {() => T | Promise<T>} act
 */
export async function saying(doing, act) {
	try {
		return await act();
	} catch (cause) {
		if (cause instanceof BlockQuantError) throw cause;
		throw new BlockQuantError('io', `${doing}: ${messageOf(cause)}`, { cause });
	}
}

/** @param {any} sink */
function checkSink(sink) {
	const isOne = typeof sink?.write === 'function' || typeof sink?.open === 'function';
	const ends = [sink?.close, sink?.abort].every((end) => end === undefined || typeof end === 'function');
	if (!isOne || !ends)
		throw new BlockQuantError(
			'bad-argument',
			`expected a sink { write(bytes, offset), close?(), abort?() } or { open(name) }, got ${shown(sink)}`,
		);
}
