// scheme-rules.js - the rules of docs/schemes.md once more, as its words put them and not as the core does; and schemes at
// random, for fast-check.
// SPDX-License-Identifier: MIT

import fc from 'fast-check';
import { LAYOUTS, RULES } from '../../js/core/abi.js';
import { schemes } from '../../js/presets.js';

const INTEGERS = Array.from({ length: 8 }, (_, i) => [`i${i + 1}`, `u${i + 1}`]).flat();
const FLOAT_VALUES = ['f4e2m1', 'f6e2m3', 'f8e4m3', 'f8e5m2'];
const TABLES = ['nf4', 'iq4_nl'];
const FLOAT_LEVELS = ['f32', 'f16', 'bf16', 'input', 'f8e4m3', 'f8e5m2', 'ue4m3', 'ggml_ue4m3'];
const UNSIGNED_LEVELS = ['e8m0', 'ue4m3', 'ggml_ue4m3'];

/* ---- the rules ------------------------------------------------------------------------------------------------------ */

const base = (value) => (typeof value === 'string' ? value.replace('-narrow', '') : 'codebook');
const isInteger = (dtype) => INTEGERS.includes(dtype);
const isTable = (value) => value === 'codebook' || TABLES.includes(value);
const bitsOf = (value) =>
	typeof value === 'object'
		? Math.max(1, Math.ceil(Math.log2(value.codebook.length)))
		: value === 'nf4'
			? 4
			: Number(/\d/.exec(base(value))[0]);

/** Edges of a block on each axis of a shape. */
function edgesOf(block, shape) {
	if (block === 'tensor') return shape;
	const edges = block === 'channel' ? [-1] : [block].flat();
	return shape.map((dim, axis) => {
		const edge = edges[axis - shape.length + edges.length] ?? 1;
		return edge === -1 ? dim : edge;
	});
}

const axesOf = (block) => (Array.isArray(block) ? block.length : block === 'tensor' ? 0 : 1);

/** A level's block is made of whole blocks of the one inside it, or covers the axis. */
const isMadeOf = (outer, inner, shape) => {
	if (outer === 'tensor') return true;
	if (inner === 'tensor') return false;
	const [large, small] = [outer, inner].map((block) => edgesOf(block, shape));
	return large.every((edge, axis) => edge % small[axis] === 0 || edge >= shape[axis]);
};

const presetOfLayout = (layout) => schemes().find(({ scheme }) => scheme.layout === layout)?.scheme;
const same = (a, b) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
const levelsOf = (levels) => (levels ?? []).map(({ dtype, block }) => [dtype, block]);

const FLOAT_CODES = ['plain', 'compressed-tensors', 'coreai', 'burn', 'ggml-e2m1'];
const SPAN = ['compressed-tensors', 'coreai', 'burn', 'burn-0.22', 'burn-ndarray'];
const POWER_OF_A = ['compressed-tensors', 'coreai', 'ggml-e2m1'];

/** Rules that words break, whatever stands beside them. @type {Record<string, (scheme: any) => boolean>} */
const WORDS = {
	'bad-value': ({ value }) =>
		typeof value === 'object' ||
		(/-narrow$/.test(value)
			? /^i[2-8]-narrow$/.test(value)
			: [...INTEGERS, ...FLOAT_VALUES, ...TABLES].includes(value)),
	'bad-level-dtype': ({ scales, mins = [] }) =>
		[...scales, ...mins].every(
			({ dtype }) => [...FLOAT_LEVELS, 'e8m0', ...INTEGERS].includes(dtype) && dtype !== 'i1',
		),
};

/** Rules that fields break by themselves. @type {Record<string, (scheme: any, shape: number[]) => boolean>} */
const ALONE = {
	'bad-levels': ({ scales, mins = [] }) =>
		scales.length >= 1 &&
		scales.length <= 3 &&
		(mins.length === 0 ||
			(mins.length === scales.length &&
				mins.every(({ block }, i) => same([scales[i].block].flat(), [block].flat())))),
	'bad-level-dtype': ({ scales, mins = [] }) => [scales, mins].every((levels) => !isInteger(levels.at(-1)?.dtype)),
	'bad-layout': ({ layout, named }) => layout !== 'burn-quantized-bytes' || named,
	'bad-block': ({ scales, mins = [] }, shape) =>
		[scales, mins].every((levels) =>
			levels.every(
				({ block }, i) =>
					axesOf(block) <= shape.length && (i === 0 || isMadeOf(block, levels[i - 1].block, shape)),
			),
		),
};

/** Rules of how fields go together. @type {Record<string, (scheme: any, shape: number[]) => boolean>} */
const TOGETHER = {
	'bad-zero': ({ value, zero, mins, symmetric, rules }) => {
		if (!zero && !mins) return !symmetric;
		if (value === 'f8e4m3') return zero === value && !mins && !symmetric && rules === 'compressed-tensors';
		return (
			isInteger(base(value)) &&
			!(zero && mins) &&
			(!zero || (zero[0] === value[0] && bitsOf(zero) >= bitsOf(value)))
		);
	},
	'bad-rules': ({ value, zero, mins, symmetric, calibration, scales, rules = 'plain' }) => {
		if (calibration === 'search') return true;
		const sided = zero || mins;
		const [inner, outer] = scales;
		const power = inner.dtype === 'e8m0';
		const code = base(value);
		const signed = rules === 'ggml-signed';
		const multiplied = rules === 'compressed-tensors' && scales.length > 1;
		return [
			sided || code[0] !== 'u',
			!multiplied ||
				(scales.length === 2 &&
					FLOAT_LEVELS.includes(inner.dtype) &&
					inner.block !== 'tensor' &&
					same(outer, { dtype: 'f32', block: 'tensor' }) &&
					!sided &&
					code !== 'i1'),
			rules !== 'compressed-tensors' || !power || ['f4e2m1', 'f6e2m3', 'f8e4m3'].includes(code),
			!(power && POWER_OF_A.includes(rules)) ||
				(scales.length === 1 && (!sided || (symmetric && rules === 'coreai'))),
			!signed ||
				(!sided &&
					!UNSIGNED_LEVELS.includes(inner.dtype) &&
					!/^u/.test(inner.dtype) &&
					inner.block !== 'tensor' &&
					(isInteger(code) || isTable(code))),
			rules !== 'ggml-odd' || scales.length === 1,
			FLOAT_CODES.includes(rules) || !FLOAT_VALUES.includes(code),
			rules !== 'ggml-e2m1' || code === 'f4e2m1',
			code !== 'i1' || sided || SPAN.includes(rules),
		].every(Boolean);
	},
	'bad-layout': (scheme, _shape, rank) => {
		const { value, zero, scales, layout = 'planes' } = scheme;
		const code = base(value);
		const bits = bitsOf(value);
		const { into = 'bytes', axis = 0 } = scheme.packing ?? {};
		if (layout === 'burn-quantized-bytes')
			return (
				!zero &&
				!scheme.mins &&
				32 % bits === 0 &&
				(scales.length === 1 || (scales.length === 2 && scales[1].block === 'tensor')) &&
				(into !== 'bytes' || axis === 0) &&
				axis < rank
			);
		if (into !== 'bytes' || axis > 0) return false;
		const blocks = layout.startsWith('ggml-') ? presetOfLayout(layout) : null;
		if (blocks)
			return (
				same(base(blocks.value), code) &&
				!zero &&
				same(levelsOf(blocks.scales), levelsOf(scales)) &&
				same(levelsOf(blocks.mins), levelsOf(scheme.mins))
			);
		if (layout === 'pack-quantized') {
			if (!isInteger(code) && !isTable(code)) return false;
			return !zero || axesOf(scales[0].block) !== 1 || (rank >= 2 && bitsOf(zero) === bits);
		}
		const fits = { 'nvfp4-pack-quantized': 4, 'mxfp4-pack-quantized': 4, 'mxfp6-pack-quantized': 6 }[layout];
		if (!fits) return true;
		return code[0] !== 'i' || isTable(code) ? bits === fits || (isTable(code) && bits < fits) : false;
	},
};

/** What a tensor breaks. @type {Record<string, (scheme: any, shape: number[]) => boolean>} */
const OF_TENSOR = {
	ragged: ({ scales, rules = 'plain', layout = 'planes' }, shape) => {
		const cols = shape[shape.length - 1];
		const whole = /^(compressed-tensors|ggml)/.test(rules);
		const groups = scales.every(({ block }) => {
			const edges = [block].flat();
			return edges.length > 1 || typeof edges[0] !== 'number' || edges[0] === -1 || cols % edges[0] === 0;
		});
		const preset = layout.startsWith('ggml-') && presetOfLayout(layout);
		const block = preset && (preset.name === 'ggml:nvfp4' ? 64 : preset.scales.at(-1).block);
		return (!whole || groups) && (!block || cols % block === 0);
	},
	odd: ({ layout = 'planes' }, shape) => {
		const share = { 'nvfp4-pack-quantized': 2, 'mxfp4-pack-quantized': 2, 'mxfp6-pack-quantized': 4 }[layout] ?? 1;
		return shape[shape.length - 1] % share === 0;
	},
};

/**
 * The first group of rules with broken ones: their words. A vector is one row, and `input` the weights' dtype.
 * @param {any} given @param {number[]} dims @param {string} [dtype] of the weights
 */
export function brokenRules(given, dims, dtype = 'f32') {
	const shape = dims.length === 1 ? [1, ...dims] : dims;
	const known = (levels) =>
		levels?.map((level) => ({ ...level, dtype: level.dtype === 'input' ? dtype : level.dtype }));
	const named = given.scales.every((level) => level.dtype !== 'input');
	const scheme = { ...given, scales: known(given.scales), mins: known(given.mins), named };
	for (const group of [WORDS, ALONE, TOGETHER, OF_TENSOR]) {
		const broken = Object.keys(group).filter((rule) => !group[rule](scheme, shape, dims.length));
		if (broken.length) return broken;
	}
	return [];
}

/* ---- schemes at random ------------------------------------------------------------------------------------------------ */

const some = (...words) => fc.constantFrom(...words);
const edge = fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 9 }) }, some(-1));
const block = fc.oneof(
	some('tensor', 'channel', 2, 4, 8, 16, 32, 48, 256),
	fc.array(edge, { minLength: 1, maxLength: 5 }),
);

/** A block made of whole blocks of another, mostly. */
const around = (inner) => {
	const times = fc.integer({ min: 1, max: 4 });
	const larger = Array.isArray(inner)
		? times.map((n) => inner.map((length) => (length === -1 ? -1 : n * length)))
		: typeof inner === 'number'
			? times.map((n) => n * inner)
			: fc.constant('tensor');
	return fc.oneof({ weight: 5, arbitrary: larger }, { weight: 3, arbitrary: fc.constant('tensor') }, block);
};

const blocks = fc.oneof(
	{ weight: 3, arbitrary: block.map((one) => [one]) },
	block.chain((inner) => around(inner).map((outer) => [inner, outer])),
	block.chain((a) => around(a).chain((b) => around(b).map((c) => [a, b, c]))),
);

const innerDtype = some(...FLOAT_LEVELS, 'e8m0', 'i1', 'i6', 'u1', 'u4', 'u6', 'u8');
const outerDtype = fc.oneof({ weight: 12, arbitrary: some(...FLOAT_LEVELS, 'e8m0') }, some('u6', 'i64'));
const levels = (list) =>
	fc.tuple(
		...list.map((one, i) =>
			(i + 1 < list.length ? innerDtype : outerDtype).map((dtype) => ({ dtype, block: one })),
		),
	);

const value = fc.oneof(
	{ weight: 6, arbitrary: some(...INTEGERS) },
	{ weight: 2, arbitrary: some('i2-narrow', 'i4-narrow', 'i8-narrow') },
	{ weight: 4, arbitrary: some(...FLOAT_VALUES, ...TABLES) },
	fc
		.uniqueArray(
			fc.float({ noNaN: true, noDefaultInfinity: true, min: -100, max: 100 }).map((x) => x + 0),
			{ minLength: 2, maxLength: 20 },
		)
		.map((codebook) => ({ codebook })),
	some('f16', 'i1-narrow', 'u4-narrow', 'e8m0'),
);

const calibration = fc.oneof(
	some('minmax', 'absmean', 'mse', 'search'),
	fc.integer({ min: 51, max: 100 }).map((percentile) => ({ percentile })),
	fc.integer({ min: 1, max: 100 }).map((n) => ({ mse: n / 100 })),
);

const own = blocks.chain((list) =>
	fc.record(
		{
			value,
			scales: levels(list),
			zero: some(...INTEGERS, 'f8e4m3'),
			mins: levels(list),
			symmetric: fc.boolean(),
			calibration,
			rules: some(...RULES),
			layout: fc.oneof({ weight: 3, arbitrary: some('planes') }, some(...LAYOUTS)),
			packing: fc.record({ into: some('bytes', 'native', 'u32'), axis: some(0, 0, 0, 1, 2) }),
		},
		{ requiredKeys: ['value', 'scales'] },
	),
);

/** A preset with a field or two of another scheme: near what works. Call after init. */
const nearPreset = () =>
	fc
		.tuple(
			some(...schemes().map(({ scheme }) => scheme)),
			own,
			fc.subarray(['value', 'scales', 'zero', 'calibration', 'rules', 'layout', 'packing'], { maxLength: 2 }),
		)
		.map(([{ name: _, activations: __, ...preset }, other, fields]) =>
			Object.fromEntries(
				Object.entries({
					...preset,
					...Object.fromEntries(fields.map((field) => [field, other[field]])),
				}).filter(([, said]) => said !== undefined),
			),
		);

/** Schemes, legal and not. Call after init. */
export const anyScheme = () => fc.oneof(own, nearPreset());

export const anyShape = fc
	.tuple(
		fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 3 }),
		fc.oneof(fc.integer({ min: 1, max: 70 }), some(32, 64, 96, 128, 256, 512)),
	)
	.map(([rows, cols]) => [...rows, cols]);
