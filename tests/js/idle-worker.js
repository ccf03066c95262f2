// idle-worker.js - a worker that does nothing, and notes how late its timer was at worst: what this machine does to a thread whatever
// the page does. Any message makes it tell.
// SPDX-License-Identifier: MIT

const EVERY_MS = 10;
let last = performance.now();
let worst = 0;
setInterval(() => {
	const now = performance.now();
	worst = Math.max(worst, now - last - EVERY_MS);
	last = now;
}, EVERY_MS);
addEventListener('message', () => postMessage(worst));
