// merge.js - two QuantizationConfigs of one model as one.
// SPDX-License-Identifier: MIT

import { matchName } from './match.js';
import { quantizationConfig, STATUSES } from './quantization-config.js';
import { MIXED } from './quantization-scheme.js';

/** @typedef {import('./quantization-config.js').QuantizationConfig} QuantizationConfig */

/**
 * The groups of two configs together, as compressed-tensors 0.20.1 merges them: those of the second come last, renamed where
 * both have the name; what the first ignores by name and the second targets is ignored no more; the second's own ignore list
 * is not taken over. Check the result's: targets and ignore lists that overlap may not mean the same together.
 * @param {unknown} first QuantizationConfig, complete or not
 * @param {unknown} second
 * @returns {QuantizationConfig}
 * @throws {BlockQuantError} bad-scheme
 */
export function mergeQuantizationConfigs(first, second) {
	const merged = quantizationConfig(first);
	const { config_groups: more, quantization_status: status } = quantizationConfig(second);
	const targets = Object.values(more).flatMap((scheme) => scheme.targets);
	const ignore = (merged.ignore ?? []).filter(
		(name) => name.startsWith('re:') || !targets.some((target) => matchName(name, target)),
	);
	const groups = new Map(Object.entries(merged.config_groups));
	for (const [name, scheme] of Object.entries(more)) groups.set(uniqueName(name, groups), scheme);
	const formats = new Set([...groups.values()].map(({ format }) => format));
	const [format = null] = formats;
	return {
		...merged,
		config_groups: Object.fromEntries(groups),
		ignore,
		format: formats.size === 1 ? format : MIXED,
		quantization_status:
			STATUSES.indexOf(status) > STATUSES.indexOf(merged.quantization_status)
				? status
				: merged.quantization_status,
	};
}

/** A free name: the number at its end counts up. @param {string} name @param {Map<string, unknown>} taken */
function uniqueName(name, taken) {
	if (!taken.has(name)) return name;
	const [, base = name, number = '0'] = /^(.+?)_(\d+)$/s.exec(name) ?? [];
	let next = Number(number) + 1;
	while (taken.has(`${base}_${next}`)) next++;
	return `${base}_${next}`;
}
