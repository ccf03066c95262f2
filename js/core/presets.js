// presets.js - the core's table of presets, read once.
// SPDX-License-Identifier: MIT

import { Scheme } from './abi.js';

/**
 * @param {any} exports of the module
 * @param {import('./arena.js').Arena} arena
 * @returns {{ name: string, description: string, scheme: any }[]} scheme: struct bq_scheme as an object
 */
export function readPresets(exports, arena) {
	const presets = [];
	for (let at, i = 0; (at = exports.bq_preset_at(i)); i++) {
		const view = arena.view();
		presets.push({
			name: arena.string(view.getUint32(at, true)),
			description: arena.string(view.getUint32(at + 4, true)),
			scheme: Scheme.read(view, at + 8),
		});
	}
	return presets;
}
