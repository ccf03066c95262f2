// ct-config.test.js - compressed-tensors' vocabulary: what is read, refused and written, held against what the package itself
// does (tests/py/ct_config.py).
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import {
	addQuantizationConfig,
	readQuantizationConfig,
	removeQuantizationConfig,
} from '../../js/compressed-tensors/config-file.js';
import * as ct from '../../js/compressed-tensors/index.js';
import { fromCompressedTensors, toCompressedTensors } from '../../js/index.js';
import { ready, root } from './support.js';

const golden = (name) =>
	JSON.parse(readFileSync(join(root, 'tests/golden/compressed-tensors-config', `${name}.json`), 'utf8'));

before(() => ready());

/** What we make of some JSON: complete and as written, or the message. */
function ours(complete, write, given) {
	try {
		return { attributes: complete(given), json: write(given) };
	} catch (error) {
		assert.ok(['bad-scheme', 'unknown-scheme'].includes(error.code), error.stack);
		return { message: error.message };
	}
}

for (const [name, complete, write, least] of [
	['args', ct.quantizationArgs, ct.writeQuantizationArgs, 700],
	['schemes', ct.quantizationScheme, ct.writeQuantizationScheme, 60],
	['configs', ct.quantizationConfig, ct.writeQuantizationConfig, 50],
]) {
	test(`${name}: completed, written and refused as by compressed-tensors 0.20.1`, () => {
		const cases = golden(name);
		assert.ok(cases.length >= least);
		for (const { given, attributes, json, fields } of cases) {
			const what = JSON.stringify(given);
			const got = ours(complete, write, given);
			if (attributes === undefined) {
				assert.ok(got.message, `${what} should be refused`);
				// The fields that the package blames, where it names any.
				for (const field of fields)
					assert.ok(got.message.includes(field), `${what}: ${got.message} does not name ${field}`);
				continue;
			}
			assert.equal(got.message, undefined, what);
			assert.deepEqual(got.attributes, attributes, what);
			for (const [key, value] of Object.entries(json))
				assert.deepEqual(
					got.json[key],
					key === 'quant_method' ? 'compressed-tensors' : value,
					`${what} ${key}`,
				);
			if (name !== 'configs') assert.deepEqual(Object.keys(got.json).sort(), Object.keys(json).sort(), what);
			// What is complete means the same again.
			assert.deepEqual(complete(got.attributes), attributes, what);
		}
	});
}

test('every problem is told at once, by its field, with the word that was meant', () => {
	const bad = {
		config_groups: {
			a: {
				targets: 'Linear',
				weights: { num_bits: 'x', type: 'flot', grup_size: 32, strategy: 'chanel', block_structure: [1] },
				input_activations: { strategy: 'channel' },
				format: 'pack_quantized',
			},
			w4a61: ['Linear'],
		},
		quantization_status: 'compresed',
		kv_cache_scheme: { group_size: -3 },
	};
	assert.throws(
		() => ct.quantizationConfig(bad),
		(error) => {
			assert.equal(error.code, 'bad-scheme');
			assert.equal(
				error.message.match(/(config_groups|quantization_status|kv_cache_scheme)[\w.]*: /g).length,
				11,
			);
			for (const part of [
				'config_groups.a.targets: expected a list, got "Linear"',
				'config_groups.a.weights.num_bits: expected an integer, got "x"',
				'config_groups.a.weights.type: expected one of int, float; got "flot"; did you mean float?',
				'config_groups.a.weights.grup_size: unknown field; did you mean group_size?',
				'config_groups.a.weights.strategy: expected one of',
				'did you mean channel?',
				'config_groups.a.weights.block_structure: expected [rows, columns]',
				'config_groups.a.input_activations.strategy: activations have no strategy channel',
				'config_groups.a.format: expected one of',
				'did you mean pack-quantized?',
				'config_groups.w4a61: no preset "w4a61"',
				'quantization_status: expected one of',
				'did you mean compressed?',
				'kv_cache_scheme.group_size: expected a positive number',
			])
				assert.ok(error.message.includes(part), `${part} is not in ${error.message}`);
			return true;
		},
	);
});

test('presets: all of 0.18 to 0.20.1, their names in any case', () => {
	const expected = golden('presets');
	assert.equal(Object.keys(expected).length, 33);
	for (const [name, { attributes, json, format }] of Object.entries(expected)) {
		const scheme = ct.presetNameToScheme(name, ['Linear']);
		assert.deepEqual(scheme, attributes, name);
		assert.equal(ct.inferModuleFormat(scheme), format, name);
		const group = ct.writeQuantizationConfig({ config_groups: { [name]: ['Linear'] } }).config_groups[name];
		assert.deepEqual(group, json, name);
	}
	for (const [name, json] of Object.entries(golden('presets-0.18'))) {
		const { observer: _, ...weights } = json.weights ?? {};
		const { zp_dtype: __, observer: ___, ...same } = ct.presetNameToScheme(name, ['Linear']).weights ?? {};
		const { zp_dtype: ____, ...old } = weights;
		assert.deepEqual(same, old, name);
	}
	for (const [name, is] of Object.entries(golden('preset-names'))) assert.equal(ct.isPresetScheme(name), is, name);
	assert.throws(() => ct.presetNameToScheme('w4a61', []), {
		code: 'unknown-scheme',
		message: /no preset "w4a61"; expected one of UNQUANTIZED, W4A16, .*; did you mean/,
	});
});

test('formats: inferred by module class and scheme; of a model', () => {
	const { cases, flattened } = golden('formats');
	assert.ok(cases.length > 200);
	const classes = { Linear: 'Linear', Embedding: 'Embedding', LayerNorm: 'LayerNorm', Sub: ['Sub', 'Linear'] };
	for (const { scheme, found } of cases) {
		const complete = ct.quantizationScheme(scheme);
		for (const [name, format] of Object.entries(found))
			assert.equal(ct.inferModuleFormat(complete, classes[name]), format, JSON.stringify([scheme, name]));
	}
	const schemes = (formats) =>
		formats.map((format) => ({ ...ct.quantizationScheme({ targets: [], weights: {} }), format }));
	for (const { formats, found } of flattened) assert.equal(ct.inferModelFormat(schemes(formats)), found);
	assert.equal(ct.inferModelFormat(schemes([null])), 'pack-quantized');
	assert.equal(ct.inferModelFormat(schemes(['dense', 'float-quantized'])), 'float-quantized');
	assert.equal(
		ct.inferModelFormat(schemes(['pack-quantized', 'float-quantized']), 'naive-quantized'),
		'naive-quantized',
	);
});

test('configs are merged, and need data, as by compressed-tensors 0.20.1', () => {
	for (const { a, b, merged } of golden('merges')) assert.deepEqual(ct.mergeQuantizationConfigs(a, b), merged);
	for (const { given, needs } of golden('calibrations'))
		assert.equal(ct.requiresCalibrationData(ct.quantizationConfig(given)), needs, JSON.stringify(given));
});

test('targets mean the modules that they mean to compressed-tensors 0.20.1', () => {
	const { modules, targets, named, narrow, fused, fusions, tensors, quantizable } = golden('matching');
	const all = Object.entries(modules).map(([name, classes]) => ({ name, classes }));
	for (const { targets: list, found } of targets)
		for (const { name, classes } of all)
			assert.deepEqual(ct.matchTargets(name, classes, list), found[name] ?? [], `${name} ${list}`);
	for (const { targets: list, ignore, found } of named)
		assert.deepEqual(
			ct.matchNamedModules(all, list, ignore).map(({ name }) => name),
			found,
			`${list} but ${ignore}`,
		);
	for (const { targets: list, found } of narrow)
		assert.deepEqual(
			all.filter(({ name }) => name && ct.isNarrowMatch(all, list, name)).map(({ name }) => name),
			found,
			`${list}`,
		);
	for (const { name, target, found } of fusions)
		assert.equal(ct.matchName(name, target, fused), found, `${name} ${target}`);
	for (const { targets: list, ignore, params: parameters, found } of quantizable)
		assert.deepEqual(
			ct
				.matchQuantizableTensors(tensors, { targets: list, ignore, parameters })
				.map(({ module, name }) => [module, name]),
			found,
		);
	assert.throws(() => ct.matchName('a', 're:('), { code: 'bad-scheme', message: /pattern "\(" cannot be read/ });
});

test('the closest target decides the scheme, of equal ones the later group', () => {
	const bits = (num_bits, ...targets) => ({ targets, weights: { num_bits } });
	const config = ct.quantizationConfig({
		config_groups: {
			a: bits(8, 'Linear', 'x'),
			b: bits(4, 're:.*down_proj'),
			c: bits(2, 'model.layers.0.mlp.down_proj'),
			d: bits(3, 'x'),
		},
		ignore: ['lm_head', 're:.*router.*'],
	});
	const found = (name, classes) => ct.schemeOfModule(config, name, classes)?.weights.num_bits;
	assert.deepEqual(
		['model.layers.0.mlp.down_proj', 'model.layers.1.mlp.down_proj', 'q_proj', 'x', 'lm_head', 'a.router.b'].map(
			(name) => found(name),
		),
		[2, 4, 8, 3, undefined, undefined],
	);
	assert.equal(found('embed', 'Embedding'), undefined);
});

test('a model of quantized modules has the config that compressed-tensors 0.20.1 gives it', () => {
	const cases = golden('models');
	assert.equal(cases.length, 5);
	for (const { modules, config } of cases) assert.deepEqual(ct.configOfModules(modules), config);
	const { modules } = cases[1];
	assert.equal(ct.configOfModules(modules, { format: 'dense', status: 'frozen' }).format, 'dense');
	const cache = ct.configOfModules([], { kvCache: { num_bits: 8, type: 'float' } });
	assert.deepEqual([cache.kv_cache_scheme.num_bits, cache.config_groups], [8, {}]);
});

test('config.json: what compressed-tensors 0.20.1 wrote is read and written again, to the letter', () => {
	const texts = golden('texts');
	assert.equal(texts.length, 4);
	for (const text of texts) {
		const section = readQuantizationConfig(text);
		assert.equal(addQuantizationConfig(removeQuantizationConfig(text), ct.writeQuantizationConfig(section)), text);
	}
});

test('correct: a target of two groups is left to the one whose it is, since files keep no order of groups', () => {
	const group = (num_bits, ...targets) => ({ targets, weights: { num_bits } });
	const config = { config_groups: { group_2: group(8, 'Linear', 'a'), group_10: group(4, 'Linear') } };
	const bitsIn = (json) => {
		const sorted = Object.fromEntries(Object.entries(json.config_groups).sort(([a], [b]) => (a < b ? -1 : 1)));
		return ct.schemeOfModule(ct.quantizationConfig({ ...json, config_groups: sorted }), 'b').weights.num_bits;
	};
	assert.equal(ct.schemeOfModule(ct.quantizationConfig(config), 'b').weights.num_bits, 4);
	assert.equal(bitsIn(ct.writeQuantizationConfig(config)), 8);
	const right = ct.writeQuantizationConfig(config, { correct: true });
	assert.equal(bitsIn(right), 4);
	assert.deepEqual(right.config_groups.group_2.targets, ['a']);
});

test('fromCompressedTensors and toCompressedTensors are inverse on whatever a scheme can say', () => {
	const roles = ['weights', 'input_activations'];
	/** What must be the same: not who observed, nor dtypes of zero points that are not there. */
	const essence = (args) => {
		if (!args) return args;
		const { observer: _, observer_kwargs: __, actorder: ___, zp_dtype: ____, group_size: group, ...rest } = args;
		return { ...rest, group_size: group > 0 ? group : null };
	};
	const weights = golden('args').flatMap(({ attributes }) =>
		attributes ? [{ targets: ['Linear'], weights: attributes }] : [],
	);
	const int8 = { num_bits: 8, strategy: 'channel' };
	const inputs = golden('args').flatMap(({ attributes }) =>
		attributes ? [{ targets: ['a'], weights: int8, input_activations: attributes }] : [],
	);
	let said = 0;
	const refused = new Set();
	for (const json of [
		...weights,
		...inputs,
		...golden('schemes').flatMap(({ given, attributes }) => (attributes ? [given] : [])),
	]) {
		let scheme;
		try {
			scheme = fromCompressedTensors(json);
		} catch (error) {
			assert.equal(error.code, 'bad-scheme', error.stack);
			refused.add(/^\S+: \D{12}/.exec(error.message)?.[0]);
			continue;
		}
		const back = toCompressedTensors(scheme, { targets: json.targets });
		assert.equal(
			fromCompressedTensors(back) === scheme ||
				JSON.stringify(fromCompressedTensors(back)) === JSON.stringify(scheme),
			true,
		);
		const [given, got] = [json, back].map((one) => ct.quantizationScheme({ targets: [], ...one }));
		for (const role of roles) {
			// Older releases left it out where the format has its own.
			if (given[role]?.scale_dtype === null && got[role].type === 'float') got[role].scale_dtype = null;
			assert.deepEqual(essence(got[role]), essence(given[role]), JSON.stringify(json));
		}
		assert.equal(got.format, given.format ?? ct.inferModuleFormat(given));
		said++;
	}
	assert.ok(said > 150, `${said}`);
	assert.ok(refused.size > 5, [...refused].join('\n'));
});

test('toCompressedTensors says what it cannot say', () => {
	const good = {
		value: 'i4',
		scales: [{ dtype: 'input', block: 32 }],
		rules: 'compressed-tensors',
		layout: 'int-quantized',
	};
	assert.deepEqual(toCompressedTensors(good, { targets: ['re:.*'] }), {
		targets: ['re:.*'],
		weights: { num_bits: 4, type: 'int', symmetric: true, group_size: 32, strategy: 'group', dynamic: false },
		input_activations: null,
		output_activations: null,
		format: 'int-quantized',
	});
	for (const [change, message] of [
		[{ value: 'u4' }, /value: it has no values of u4/],
		[{ value: 'i8-narrow' }, /value: it has no values of i8-narrow/],
		[{ rules: 'ggml' }, /is not stored in a layout of compressed-tensors/],
		[{ layout: 'planes' }, /is not stored in a layout of compressed-tensors/],
		[{ scales: [{ dtype: 'f16', block: 32 }] }, /scales\[0\]\.dtype: it has no scales of f16/],
		[{ scales: [{ dtype: 'input', block: [2, 3, 4] }] }, /scales\[0\]\.block: it has no blocks of \[2, 3, 4\]/],
		[{ scales: [{ dtype: 'input', block: [-1, 1] }] }, /scales\[0\]\.block: it has no blocks of \[-1, 1\]/],
		[
			{ scales: [good.scales[0], { dtype: 'f16', block: 'tensor' }] },
			/outer scale of f32 for the whole tensor only/,
		],
		[
			{
				scales: [
					{ dtype: 'input', block: 'channel' },
					{ dtype: 'f32', block: 'tensor' },
				],
			},
			/a tensor-wide scale is over groups only/,
		],
		[{ zero: 'i8' }, /zero: it has zero points of i4, not i8/],
		[{ mins: good.scales }, /mins: it has zero points only/],
		[{ calibration: 'search' }, /calibration: it takes the range of a block/],
		[
			{ activations: { mode: 'dynamic', value: 'u8', block: 'channel' } },
			/activations\.value: it has no values of u8/,
		],
		[
			{ activations: { mode: 'dynamic', value: 'i8', block: [8, 8] } },
			/activations\.block: it has no blocks of \[8, 8\]/,
		],
		[
			{ activations: { mode: 'dynamic', value: 'i8', block: 8, scale: 'f16' } },
			/activations\.scale: it has no scales of f16/,
		],
	])
		assert.throws(() => toCompressedTensors({ ...good, ...change }), { code: 'unsupported', message });
	assert.throws(() => toCompressedTensors('q4_k'), { code: 'unsupported' });
});
