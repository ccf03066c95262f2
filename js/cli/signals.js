// signals.js - Ctrl-C as an AbortSignal: work in progress ends tidily.
// SPDX-License-Identifier: MIT

import process from 'node:process';
import { BlockQuantError } from '../errors.js';

/**
 * Runs what can be cancelled: it must come back to the event loop now and then, or no Ctrl-C is heard. A second Ctrl-C does not
 * wait for it to end.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} run
 * @returns {Promise<T>}
 */
export async function cancellable(run) {
	const controller = new AbortController();
	const onInterrupt = () => {
		if (controller.signal.aborted) process.exit(130);
		controller.abort();
	};
	process.on('SIGINT', onInterrupt);
	try {
		return await run(controller.signal);
	} catch (error) {
		// Whatever failed first: its temporary files were taken away from under it.
		if (controller.signal.aborted)
			throw new BlockQuantError('cancelled', 'interrupted: no output is left', { cause: error });
		throw error;
	} finally {
		process.off('SIGINT', onInterrupt);
	}
}
