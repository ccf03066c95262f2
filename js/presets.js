// presets.js - the core's table of named formats, by name.
// SPDX-License-Identifier: MIT

import { theCore } from './core/init.js';
import { BlockQuantError, quoted, shown } from './errors.js';
import { didYouMean } from './nearest.js';
import { schemeOfStruct } from './scheme.js';
import { structOfScheme } from './scheme/read.js';

/** @typedef {import('./scheme.js').Scheme} Scheme */

/** Whose preset a bare name means in a file. */
const FAMILIES = { safetensors: 'ct', gguf: 'ggml' };

/** And outside of one. */
const FAMILY = FAMILIES.gguf;
/** @typedef {{ name: string, description: string, scheme: Scheme, struct: any }} Preset */

/** @type {{ core: unknown, byName: Map<string, Preset> } | undefined} */
let table;

/** All presets by qualified name. @returns {Map<string, Preset>} */
export function presets() {
	const core = theCore();
	if (table?.core !== core) {
		const rows = core.presets().map(({ name, description, scheme }) => ({
			name,
			description,
			scheme: schemeOfStruct(scheme, name),
			struct: scheme,
		}));
		table = { core, byName: new Map(rows.map((row) => [row.name, row])) };
	}
	return table.byName;
}

/** @param {string} name */
const bare = (name) => name.slice(name.indexOf(':') + 1);

/**
 * The preset of a name: qualified, or bare where one family alone has it; else that of the family which the container
 * carries. Case does not matter.
 * @param {string} name
 * @param {string} [family] preferred where a bare name is shared
 * @returns {Preset}
 */
export function presetNamed(name, family = FAMILY) {
	const wanted = name.toLowerCase();
	const exact = presets().get(wanted);
	if (exact) return exact;
	const found = [...presets().values()].filter((preset) => bare(preset.name) === wanted);
	const chosen = found.find((preset) => preset.name.startsWith(`${family}:`)) ?? found[0];
	if (chosen) return chosen;
	const meant = didYouMean(wanted, presets().keys(), (known) => [known, bare(known)]);
	throw new BlockQuantError('unknown-scheme', `no scheme ${quoted(name)}${meant}`);
}

/** JSON with its keys in order. @param {unknown} value */
function canonical(value) {
	/** @param {string} _ @param {any} item */
	const sorted = (_, item) =>
		typeof item === 'bigint'
			? `${item}n`
			: item && typeof item === 'object' && !Array.isArray(item)
				? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
				: item;
	return JSON.stringify(value, sorted);
}

/**
 * The preset that a scheme object is: it has the preset's name and still says the same (it may be a clone, from a worker).
 * @param {Scheme} scheme
 * @returns {Preset | undefined}
 */
export function presetOf(scheme) {
	const preset = scheme.name === undefined ? undefined : presets().get(scheme.name);
	return preset && canonical(preset.scheme) === canonical(scheme) ? preset : undefined;
}

/**
 * What is wrong with a scheme's name: only presets have names, and a scheme of that name must say what the preset says.
 * @param {Scheme} scheme
 * @returns {string | null}
 */
export const nameProblem = (scheme) =>
	scheme.name === undefined || presetOf(scheme) !== undefined
		? null
		: `this scheme is not the preset ${shown(scheme.name)}; only presets have names: leave it out`;

/**
 * The preset that says the same as a scheme object, or the object.
 * @param {Scheme} scheme
 * @returns {Scheme}
 */
export function asPreset(scheme) {
	const same = JSON.stringify(schemeOfStruct(structOfScheme(scheme)));
	// No preset has asymmetric activations, which the core does not carry.
	if (scheme.activations?.symmetric === false) return scheme;
	for (const preset of presets().values())
		if (JSON.stringify(schemeOfStruct({ ...preset.struct, fused: 0 })) === same) return preset.scheme;
	return scheme;
}

/**
 * A preset by name, or the scheme object that was given.
 * @param {string | Scheme} nameOrScheme
 * @param {{ container?: 'safetensors' | 'gguf' }} [where] the file that it is for
 * @returns {Scheme}
 */
export function resolveScheme(nameOrScheme, { container } = {}) {
	if (typeof nameOrScheme === 'string') return presetNamed(nameOrScheme, container && FAMILIES[container]).scheme;
	if (nameOrScheme && typeof nameOrScheme === 'object') return nameOrScheme;
	throw new BlockQuantError('bad-argument', `scheme: expected a name or an object, got ${typeof nameOrScheme}`);
}

/**
 * The named formats of this build.
 * @returns {{ name: string, bitsPerWeight: number, block: Scheme['scales'][number]['block'], description: string, scheme: Scheme }[]}
 *   bitsPerWeight: of a large bfloat16 tensor; block: of the innermost scale
 */
export function schemes() {
	return [...presets().values()].map(({ name, description, scheme, struct }) => ({
		name,
		bitsPerWeight: theCore().bitsPerWeight(struct, 'bf16'),
		block: scheme.scales[0].block,
		description,
		scheme,
	}));
}
