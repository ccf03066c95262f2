// config-file.test.js - config.json beside a model: what is written, and whose is never overwritten.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { dequantizeModelPath, openModelPath, quantizeModelPath } from '../../js/node/model-files.js';
import { CONFIG, folder, model, options, read } from './folders.js';
import { ready } from './support.js';

before(() => ready());

test('config.json: the new one has a quantization_config and all that was there', async () => {
	const { path } = model(CONFIG);
	const out = join(folder(), 'w4.safetensors');
	const { configPath, warnings } = await quantizeModelPath(path, out, { ...options, exclude: ['k_proj'] });
	assert.equal(configPath, join(dirname(out), 'config.json'));
	assert.deepEqual(warnings, []);
	const text = read(configPath);
	assert.ok(text.includes('"rope_theta": 10000.0') && text.includes('"eps": 1e-05') && text.endsWith('}'));
	const { quantization_config: section, ...rest } = JSON.parse(text);
	assert.deepEqual(rest, JSON.parse(CONFIG));
	const { weights: args, ...group } = section.config_groups.group_0;
	assert.deepEqual(group, {
		format: 'pack-quantized',
		input_activations: null,
		output_activations: null,
		targets: ['Linear'],
	});
	assert.equal(args.num_bits, 4);
	assert.equal(args.group_size, 128);
	assert.deepEqual(section, {
		config_groups: section.config_groups,
		format: 'pack-quantized',
		global_compression_ratio: null,
		ignore: ['lm_head', 'model.layers.0.self_attn.k_proj'],
		kv_cache_scheme: null,
		moe_sparsity_config: null,
		quant_method: 'compressed-tensors',
		quantization_status: 'compressed',
		sparsity_config: {},
		transform_config: {},
		version: '0.20.1',
	});
	/** @param {unknown} value @returns {boolean} */
	const sorted = (value) =>
		typeof value !== 'object' ||
		value === null ||
		Array.isArray(value) ||
		(Object.keys(value).join() === Object.keys(value).sort().join() && Object.values(value).every(sorted));
	assert.ok(sorted(JSON.parse(text)));

	const back = await dequantizeModelPath(out, join(folder(), 'x.safetensors'));
	assert.deepEqual(JSON.parse(read(back.configPath ?? '')), JSON.parse(CONFIG));
	const embedded = await quantizeModelPath(path, join(folder(), 'e.safetensors'), {
		...options,
		include: ['embed_tokens'],
	});
	const targets = JSON.parse(read(embedded.configPath ?? '')).quantization_config.config_groups.group_0.targets;
	assert.deepEqual(targets, ['Linear', 'model.embed_tokens']);
});

test("config.json: the input's own and another model's stay, with a warning each", async () => {
	const { directory, path } = model(CONFIG);
	const beside = await quantizeModelPath(path, join(directory, 'out.safetensors'), options);
	assert.equal(beside.configPath, join(directory, 'out.safetensors.config.json'));
	assert.match(
		beside.warnings[0],
		/config.json is the input's and stays; the new one is .*out.safetensors.config.json/,
	);
	assert.equal(read(join(directory, 'config.json')), CONFIG);

	const elsewhere = folder();
	const there = join(elsewhere, 'config.json');
	writeFileSync(there, '{"model_type":"other"}');
	const first = await quantizeModelPath(path, join(elsewhere, 'a.safetensors'), options);
	assert.equal(first.configPath, join(elsewhere, 'a.safetensors.config.json'));
	assert.match(first.warnings[0], /of another model and stays/);
	assert.equal(read(there), '{"model_type":"other"}');

	writeFileSync(there, 'no JSON at all');
	const second = await quantizeModelPath(path, join(elsewhere, 'a.safetensors'), options);
	assert.equal(second.configPath, join(elsewhere, 'a.safetensors.config.json'));
	assert.equal(read(there), 'no JSON at all');

	rmSync(there);
	symlinkSync(join(directory, 'config.json'), there);
	const linked = await quantizeModelPath(path, join(elsewhere, 'c.safetensors'), options);
	assert.equal(linked.configPath, join(elsewhere, 'c.safetensors.config.json'));
	assert.equal(read(join(directory, 'config.json')), CONFIG);
});

test('config.json: only what we wrote for this very output is replaced', async () => {
	const { path } = model(CONFIG);
	const directory = folder();
	const there = join(directory, 'config.json');
	const out = join(directory, 'a.safetensors');
	await quantizeModelPath(path, out, options);
	const ours = read(there);

	const again = await quantizeModelPath(path, out, options);
	assert.deepEqual([again.configPath, again.warnings], [there, []]);
	const changed = await quantizeModelPath(path, out, { scheme: 'nvfp4a16' });
	assert.equal(changed.configPath, there);
	assert.match(changed.warnings[0], /described another output and is replaced/);
	assert.equal(JSON.parse(read(there)).quantization_config.format, 'nvfp4-pack-quantized');

	const section = JSON.parse(ours).quantization_config;
	/** @type {[string, string][]} */
	const foreign = [
		['another model', ours.replace('llama', 'qwen2')],
		['another number', ours.replace('10000.0', '10000')],
		['another tool', JSON.stringify({ ...JSON.parse(ours), quantization_config: { ...section, more: 1 } })],
		['another version', ours.replace('"0.20.1"', '"0.19.0"')],
		['no section', CONFIG],
		['two sections', JSON.stringify({ ...JSON.parse(ours), text_config: { quantization_config: {} } })],
	];
	for (const [what, text] of foreign) {
		writeFileSync(there, text);
		const result = await quantizeModelPath(path, out, { scheme: 'nvfp4a16' });
		assert.equal(result.configPath, `${out}.config.json`, what);
		assert.match(result.warnings[0], /of another model and stays; the new one is/, what);
		assert.equal(read(there), text, what);
		rmSync(`${out}.config.json`);
	}

	// Ours, but of a file that is not replaced: without it nobody could read that one.
	writeFileSync(there, ours);
	const other = await quantizeModelPath(path, join(directory, 'b.safetensors'), { scheme: 'nvfp4a16' });
	assert.equal(other.configPath, join(directory, 'b.safetensors.config.json'));
	assert.equal(read(there), ours);

	// The one that has the file's name is read first, so it must never be an old one.
	const opened = await openModelPath(join(directory, 'b.safetensors'));
	await opened.close();
	assert.equal(opened.configPath, other.configPath);
	assert.equal(JSON.parse(opened.config ?? '').quantization_config.format, 'nvfp4-pack-quantized');
	rmSync(there);
	const next = await quantizeModelPath(path, join(directory, 'b.safetensors'), { scheme: 'mxfp4a16' });
	assert.equal(next.configPath, other.configPath);
	assert.equal(JSON.parse(read(other.configPath ?? '')).quantization_config.format, 'mxfp4-pack-quantized');
	const bare = await quantizeModelPath(model().path, join(directory, 'b.safetensors'), options);
	assert.equal(bare.configPath, null);
	assert.match(bare.warnings[0], /b\.safetensors\.config\.json is there already/);
});

test('config.json that cannot be right, or of a quantized model: refused before anything is written', async () => {
	for (const [text, code] of [
		['{', 'bad-file'],
		['[]', 'bad-file'],
		['{"a":1,"a":2}', 'bad-file'],
		['{"quantization_config":{"quant_method":"awq"}}', 'unsupported'],
		['{"compression_config":{"quant_method":"compressed-tensors"}}', 'unsupported'],
		['{"text_config":{"quantization_config":{}}}', 'unsupported'],
		['{"text_config":{"compression_config":{}}}', 'unsupported'],
	]) {
		const { directory, path } = model(text);
		await assert.rejects(quantizeModelPath(path, join(directory, 'out.safetensors'), options), {
			code,
			message: /config.json/,
		});
		assert.deepEqual(readdirSync(directory).sort(), ['config.json', 'model.safetensors']);
	}
});
