// to.js - a scheme of ours as Burn's QuantScheme, or why Burn has none that makes the same bytes.
// SPDX-License-Identifier: MIT

import { mustReadBack } from '../scheme/stated.js';
import { fromBurn } from './from.js';
import { BlockQuantError, shown } from '../errors.js';
import { resolveScheme } from '../presets.js';
import { Problems } from '../problems.js';
import { readEdges } from './edges.js';
import { fieldsJson, readFields } from './fields.js';
import { CALIBRATIONS, LAYOUT, nameOf, PACKINGS, QUANT_VALUES, RULES, SCALE_DTYPES } from './tables.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */
/** @typedef {import('./fields.js').QuantSchemeFields} QuantSchemeFields */

/** Full-range integers, whose codes are those of a table. @type {Record<number, string>} */
const INDICES = { 4: 'Q2F', 16: 'Q4F', 256: 'Q8F' };

/** @param {any} value @returns {Pick<QuantSchemeFields, 'value' | 'mode' | 'table'>} */
function valueOf(value) {
	const table = value?.codebook;
	const name = table ? INDICES[table.length] : nameOf(QUANT_VALUES, value);
	if (!name) throw new BlockQuantError('unsupported', `value: Burn has no values of ${shown(value)}`);
	return table ? { value: name, mode: 'Lookup', table } : { value: name };
}

/** @param {string} where @param {string} dtype */
function scaleName(where, dtype) {
	const name = nameOf(SCALE_DTYPES, dtype);
	if (name) return name;
	throw new BlockQuantError('unsupported', `${where}: Burn has no scales of ${dtype}`);
}

/** @param {Scheme['scales']} scales @returns {Pick<QuantSchemeFields, 'tensor' | 'block'>} */
function levelsOf(scales) {
	const names = scales.map(({ dtype }, i) => scaleName(`scales[${i}].dtype`, dtype));
	if (scales.length === 1 && scales[0].block === 'tensor') return { tensor: names[0] };
	const [{ block }, outer] = scales;
	if (scales.length > 2 || block === 'tensor' || (outer && outer.block !== 'tensor'))
		throw new BlockQuantError(
			'unsupported',
			'scales: Burn has blocks, a whole tensor, or blocks under a whole tensor',
		);
	const problems = new Problems();
	const size = readEdges(Array.isArray(block) ? block : [block], problems) ?? [];
	problems.check('unsupported', "scales[0].block: Burn's has other edges");
	return { block: { size, dtype: names[0] }, tensor: names[1] ?? null };
}

/**
 * The QuantScheme of a scheme, as serde writes it: fromBurn() of it makes the same bytes.
 * @param {string | Scheme} nameOrScheme
 * @returns {ReturnType<typeof fieldsJson>} with `table`, which Burn keeps beside it, where values are a codebook's
 * @throws {BlockQuantError} unsupported: what Burn cannot say
 */
export function toBurn(nameOrScheme) {
	const scheme = resolveScheme(nameOrScheme);
	const { value, scales, zero, mins, calibration, rules, layout, packing, activations } = /** @type {any} */ (scheme);
	const absent = { 'a zero point': zero, mins, activations };
	for (const [what, said] of Object.entries(absent))
		if (said !== undefined) throw new BlockQuantError('unsupported', `Burn's scheme says nothing of ${what}`);
	if (rules !== RULES || layout !== LAYOUT)
		throw new BlockQuantError(
			'unsupported',
			`Burn has its own arithmetic and layout (rules ${RULES}, layout ${LAYOUT}); got ${shown(rules)} and ${shown(layout)}`,
		);
	const methods = Object.values(CALIBRATIONS);
	if (!methods.includes(calibration ?? methods[0]))
		throw new BlockQuantError(
			'unsupported',
			`calibration: Burn has ${methods.join(' and ')}; got ${shown(calibration)}`,
		);
	const { into = 'bytes', axis = 0 } = packing ?? {};
	const kind = Object.keys(PACKINGS).find((name) => PACKINGS[name] === into);
	const json = fieldsJson(
		readFields({
			...valueOf(value),
			store: kind ? /** @type {any} */ ({ [kind]: axis }) : 'Native',
			...levelsOf(scales),
		}),
	);
	mustReadBack('Burn', scheme, () => fromBurn(json), ['calibration']);
	return json;
}
