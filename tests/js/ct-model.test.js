// ct-model.test.js - quantized models of compressed-tensors, as their config.json and their tensors say they are: which group is
// whose, what older releases stored, what lies beside the weights.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import * as ct from '../../js/compressed-tensors/index.js';
import {
	dequantize,
	fromCompressedTensors,
	makeScheme,
	memorySink,
	openModel,
	quantize,
	quantizeModel,
} from '../../js/index.js';
import { safetensors } from './files-support.js';
import { dequantized, normals, tensorsOf } from './ct-support.js';
import { asDtype, bytesOf, ready, root, sha256 } from './support.js';

before(() => ready());

const digest = (values) => sha256(bytesOf(Float32Array.from(values, (x) => x + 0)));

/** A config.json of these groups. */
const configOf = (config_groups, more = {}) =>
	JSON.stringify({ quantization_config: { quant_method: 'compressed-tensors', config_groups, ...more } });

/** The values of a model file of these tensors, dequantized to float32. */
async function valuesOf(file, config) {
	const { tensors, warnings } = await dequantized(file, { dtype: 'f32', config });
	const values = Object.fromEntries(
		Object.entries(tensors).map(([name, { bytes }]) => [name, new Float32Array(bytes.slice().buffer)]),
	);
	return { values, warnings };
}

test('weights grouped by actorder, as 0.18.0 stored them, are read: arrays and model files', async () => {
	const cases = JSON.parse(readFileSync(join(root, 'tests/golden/compressed-tensors-config/g-idx.json'), 'utf8'));
	assert.equal(cases.length, 36);
	for (const { args, format, dtype, tensors, decoded } of cases) {
		const what = JSON.stringify([args, format, dtype]);
		const planes = Object.fromEntries(
			Object.entries(tensors).map(([name, { hex, ...said }]) => [
				name,
				{ ...said, bytes: new Uint8Array(Buffer.from(hex, 'hex')) },
			]),
		);
		const config = configOf({ group_0: { targets: ['Linear'], weights: args, format } });
		const { values } = await valuesOf(tensorsOf('a', { planes }), config);
		assert.deepEqual(Object.keys(values), ['a.weight'], what);
		assert.equal(digest(values['a.weight']), decoded, what);
		if (format !== 'int-quantized') continue;
		const { actorder: _, ...plain } = args;
		const given = { args: plain, scale: planes.weight_scale, zeroPoint: planes.weight_zero_point };
		const gIdx = new Int32Array(planes.weight_g_idx.bytes.slice().buffer);
		assert.equal(digest(ct.dequantize(planes.weight, { ...given, gIdx })), decoded, what);
	}
});

test('a config says how a module is quantized by the target that is closest to it', async () => {
	// 5 and 4 bits fill as many words of a row of 6.
	const shape = [4, 6];
	const of = (bits) => ct.quantizationScheme({ targets: [], weights: { num_bits: bits, strategy: 'channel' } });
	const schemeOf = (bits) => ({
		value: `i${bits}`,
		scales: [{ dtype: 'input', block: 'channel' }],
		rules: 'compressed-tensors',
		layout: 'pack-quantized',
	});
	const five = quantize(normals(24, 1), { scheme: schemeOf(5), shape });
	const four = quantize(normals(24, 2), { scheme: schemeOf(4), shape });
	const tensors = [...tensorsOf('layers.0.a', five), ...tensorsOf('layers.0.b', four)];
	const group = (bits, target) => ({ ...of(bits), targets: [target] });
	for (const groups of [
		{ x: group(5, 'Linear'), y: group(4, 're:.*b$') },
		{ x: group(4, 'Linear'), y: group(5, 'layers.0.a') },
		{ x: group(4, 're:.*'), y: group(5, 'layers.0.a') },
	]) {
		const { values } = await valuesOf(tensors, configOf(groups));
		assert.deepEqual(values['layers.0.a.weight'], dequantize(five));
		assert.deepEqual(values['layers.0.b.weight'], dequantize(four));
	}
	await assert.rejects(valuesOf(tensors, configOf({ x: { targets: ['Linear'], weights: { num_bit: 5 } } })), {
		code: 'bad-scheme',
		message: /config\.json: config_groups\.x\.weights\.num_bit: unknown field; did you mean num_bits\?/,
	});
	await assert.rejects(valuesOf(tensors, null), {
		code: 'unsupported',
		message: /fit 1, 2, 3, 4, 5 bits; config\.json must say/,
	});
});

test('zero points stored with packed integers are those of 0.20.1: arrays and model files, written and read', async () => {
	const cases = JSON.parse(
		readFileSync(join(root, 'tests/golden/compressed-tensors-config/packed-zeros.json'), 'utf8'),
	);
	assert.equal(cases.length, 72);
	for (const { args, shape, seed, dtype, tensors, decoded } of cases) {
		const what = JSON.stringify([args, dtype]);
		const scheme = fromCompressedTensors(args);
		const data = asDtype(normals(shape[0] * shape[1], seed), dtype);
		const quantized = quantize(data, { scheme, shape, dtype });
		const planes = Object.fromEntries(
			Object.entries(quantized.planes).map(([name, { bytes, dtype, shape }]) => [
				name,
				{ dtype, shape, hex: Buffer.from(bytes).toString('hex') },
			]),
		);
		assert.deepEqual(planes, tensors, what);
		const config = configOf({ group_0: { targets: ['Linear'], weights: args, format: 'pack-quantized' } });
		const { values } = await valuesOf(tensorsOf('a', quantized), config);
		assert.equal(digest(values['a.weight']), decoded, what);
		const weight = { name: 'a.weight', dtype: dtype.toUpperCase(), shape, data: bytesOf(data) };
		const sink = memorySink();
		await quantizeModel(await openModel(safetensors([weight])), sink, { scheme });
		const written = await openModel(sink.bytes());
		for (const { name, read, nbytes } of written.tensors)
			assert.equal(Buffer.from(await read(0, nbytes)).toString('hex'), tensors[name.slice(2)].hex, what);
	}
});

test('what no reader would take for what it is, is refused before anything is written', async () => {
	const data = asDtype(normals(4 * 96, 3), 'bf16');
	const tensor = { name: 'layer.weight', dtype: 'BF16', shape: [4, 96], data: bytesOf(data) };
	for (const scheme of [
		{ value: 'i3', scales: [{ dtype: 'e8m0', block: 48 }], layout: 'pack-quantized' },
		fromCompressedTensors({ num_bits: 4, group_size: 32, scale_dtype: 'torch.float8_e4m3fn' }),
		fromCompressedTensors({ num_bits: 6, type: 'float', group_size: 16 }),
		fromCompressedTensors({ num_bits: 4, type: 'float', strategy: 'channel' }),
	]) {
		const sink = memorySink();
		await assert.rejects(quantizeModel(await openModel(safetensors([tensor])), sink, { scheme }), {
			code: 'unsupported',
			message: /layer\.weight": .* in a compressed-tensors file: /,
		});
		assert.equal(sink.bytes().length, 0);
	}
});

test('a file holds codes of any calibration, which its readers need not know', async () => {
	const weights = normals(64 * 128, 5);
	const tensor = { name: 'a.weight', dtype: 'F32', shape: [64, 128], data: bytesOf(weights) };
	const { name: _, ...w4a16 } = makeScheme('ct:w4a16');
	for (const changes of [
		{ calibration: 'mse' },
		{ calibration: { percentile: 99 } },
		{ zero: 'i4', symmetric: true },
	]) {
		const scheme = { ...w4a16, ...changes };
		const sink = memorySink();
		await quantizeModel(await openModel(safetensors([tensor])), sink, { scheme });
		const own = quantize(weights, { scheme, shape: [64, 128] });
		const written = await openModel(sink.bytes());
		for (const { name, read, nbytes } of written.tensors)
			assert.deepEqual(await read(0, nbytes), own.planes[name.slice(2)].bytes, name);
		const { values } = await valuesOf(tensorsOf('a', own));
		assert.deepEqual(values['a.weight'], dequantize(own));
	}
});

test('a file that needs a config.json says so where none is given', async () => {
	const tensor = { name: 'a.weight', dtype: 'F32', shape: [200, 200], data: bytesOf(normals(40_000, 3)) };
	const block = (edge) => ({
		value: 'i8',
		scales: [{ dtype: 'input', block: [edge, edge] }],
		rules: 'compressed-tensors',
	});
	const warningsOf = async (scheme, config) =>
		(await quantizeModel(await openModel(safetensors([tensor])), memorySink(), { scheme, config })).warnings;
	const [warning, ...others] = await warningsOf(block(64));
	assert.match(warning, /readers need a config\.json .* tensor "a\.weight" without one: .*weight_scale \[4,4\]/);
	assert.deepEqual(others, []);
	assert.match((await warningsOf(block(100)))[0], /its readers take it for another scheme/);
	assert.deepEqual(await warningsOf(block(64), '{}'), []);
	assert.deepEqual(await warningsOf(block(128)), []);
	assert.deepEqual(await warningsOf('int8'), []);
});
