// discard.js - gives memory back at once: a collector that sees only small objects lets tens of MB of them wait.
// SPDX-License-Identifier: MIT

/** @type {MessagePort | undefined} nobody is at its other end */
let drain;

/**
 * Makes the port, whose other end must be closed by the event loop before what is sent to it is freed. A worker calls this
 * at its start: while bands wait in its queue, its loop does not come round.
 */
export function openDrain() {
	if (drain || typeof MessageChannel !== 'function') return;
	const { port1, port2 } = new MessageChannel();
	port2.close();
	drain = port1;
}

/**
 * Frees arrays that are not used again; what they fill alone is detached.
 * @param {Uint8Array[]} arrays
 */
export function discard(arrays) {
	openDrain();
	// What moves to nowhere is freed. ArrayBuffer.transfer() does the same, but not in Node 20.
	for (const { buffer, byteLength } of arrays)
		if (byteLength > 0 && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer)
			drain?.postMessage(null, [buffer]);
}
