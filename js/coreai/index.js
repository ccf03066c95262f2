// index.js - what only Core AI has, beside schemes: configs of whole models, what its backends store, how it counts bits, its
// gradient.
// SPDX-License-Identifier: MIT

import { checkBackend as check } from './backends.js';
import { readOptions } from './from.js';
import { specOf } from './spec.js';

export { bitsPerWeight } from './bits.js';
export { readConfig } from './config.js';
export { onlyFor, setGlobal, setModuleName, setModuleType, without } from './edits.js';
export { exportWeight } from './export.js';
export { gradientMask } from './gradient.js';
export { presetConfig } from './presets.js';
export { assign, resolveConfig } from './resolve.js';

/**
 * Refuses a spec that a backend cannot store: Torch, CoreAI or CoreML.
 * @param {any} json keyword arguments of QuantizationSpec
 * @param {string} backend
 * @param {Pick<import('./from.js').From, 'target' | 'rank'>} [options]
 * @throws {import('../errors.js').BlockQuantError} unsupported, with every reason; bad-scheme, bad-argument
 */
export function checkBackend(json, backend, options = {}) {
	const { target, rank } = readOptions(options, ['target', 'rank']);
	check(specOf(json), backend, { target, rank });
}
