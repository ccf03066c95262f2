// model-files.test.js - models by path: nothing is overwritten, nothing is left behind, config.json goes where it belongs.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
	chmodSync,
	copyFileSync,
	existsSync,
	linkSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	truncateSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { FileTransaction, fileSink } from '../../js/node/file-sink.js';
import { fileSource } from '../../js/node/file-source.js';
import { dequantizeModelPath, openModelPath, quantizeModelPath } from '../../js/node/model-files.js';
import { bytesOf, llama, noise, safetensors, weights } from './files-support.js';
import { ready } from './support.js';

const root = mkdtempSync(join(tmpdir(), 'blockquant-'));
let folders = 0;

before(() => ready());
after(() => rmSync(root, { recursive: true, force: true }));

/** An empty directory. */
function folder() {
	const path = join(root, `${folders++}`);
	mkdirSync(path);
	return path;
}

/** A directory with a model of one file, and perhaps its config.json. @param {string} [config] */
function model(config) {
	const directory = folder();
	writeFileSync(join(directory, 'model.safetensors'), llama(1));
	if (config !== undefined) writeFileSync(join(directory, 'config.json'), config);
	return { directory, path: join(directory, 'model.safetensors') };
}

/** @param {string} path */
const read = (path) => readFileSync(path, 'utf8');
const options = { scheme: 'w4a16' };
const CONFIG = '{"model_type":"llama","rope_theta":10000.0,"eps":1e-05,"architectures":["X"]}';

test('a file: quantized beside its input, which stays as it was; temporary names are gone', async () => {
	const { directory, path } = model();
	const result = await quantizeModelPath(path, join(directory, 'out.safetensors'), options);
	assert.deepEqual(result.files, [join(directory, 'out.safetensors')]);
	assert.equal(result.configPath, null);
	assert.equal(statSync(result.files[0]).size, result.nbytes);
	assert.deepEqual(readdirSync(directory).sort(), ['model.safetensors', 'out.safetensors']);
	assert.deepEqual(new Uint8Array(readFileSync(path)), llama(1));
	const back = await dequantizeModelPath(result.files[0], join(directory, 'back.safetensors'));
	assert.equal(back.tensors.length, 7);
	assert.deepEqual(readdirSync(directory).sort(), ['back.safetensors', 'model.safetensors', 'out.safetensors']);
});

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

test("config.json: the input's own and another model's stay; ours is replaced, with a warning each", async () => {
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
	assert.match(first.warnings[0], /another model/);
	assert.equal(read(there), '{"model_type":"other"}');

	writeFileSync(there, 'no JSON at all');
	const second = await quantizeModelPath(path, join(elsewhere, 'a.safetensors'), options);
	assert.equal(second.configPath, join(elsewhere, 'a.safetensors.config.json'));
	assert.equal(read(there), 'no JSON at all');

	copyFileSync(first.configPath ?? '', there);
	const same = await quantizeModelPath(path, join(elsewhere, 'a.safetensors'), options);
	assert.deepEqual([same.configPath, same.warnings], [there, []]);
	const other = await quantizeModelPath(path, join(elsewhere, 'b.safetensors'), { scheme: 'nvfp4a16' });
	assert.equal(other.configPath, there);
	assert.match(other.warnings[0], /described another output and is replaced/);
	assert.equal(JSON.parse(read(there)).quantization_config.format, 'nvfp4-pack-quantized');

	rmSync(there);
	symlinkSync(join(directory, 'config.json'), there);
	const linked = await quantizeModelPath(path, join(elsewhere, 'c.safetensors'), options);
	assert.equal(linked.configPath, join(elsewhere, 'c.safetensors.config.json'));
	assert.equal(read(join(directory, 'config.json')), CONFIG);
});

test('config.json that cannot be right, or of a quantized model: refused before anything is written', async () => {
	for (const [text, code] of [
		['{', 'bad-file'],
		['[]', 'bad-file'],
		['{"a":1,"a":2}', 'bad-file'],
		['{"quantization_config":{"quant_method":"awq"}}', 'unsupported'],
	]) {
		const { directory, path } = model(text);
		await assert.rejects(quantizeModelPath(path, join(directory, 'out.safetensors'), options), {
			code,
			message: /config.json/,
		});
		assert.deepEqual(readdirSync(directory).sort(), ['config.json', 'model.safetensors']);
	}
});

test('in == out is refused, through every kind of link, and the input is untouched', async () => {
	const { directory, path } = model(CONFIG);
	const bytes = readFileSync(path);
	linkSync(path, join(directory, 'hard.safetensors'));
	symlinkSync(path, join(directory, 'soft.safetensors'));
	symlinkSync(directory, join(directory, 'loop'));
	const names = [
		'model.safetensors',
		'hard.safetensors',
		'soft.safetensors',
		'loop/model.safetensors',
		'config.json',
		'./x/../model.safetensors',
	];
	mkdirSync(join(directory, 'x'));
	const before = readdirSync(directory).sort();
	for (const out of [
		...names.map((name) => join(directory, name)),
		relative(process.cwd(), path),
		directory,
		`${directory}/`,
	]) {
		await assert.rejects(quantizeModelPath(path, out, options), { code: 'same-file' }, out);
		assert.deepEqual(readdirSync(directory).sort(), before);
	}
	await assert.rejects(quantizeModelPath(join(directory, 'soft.safetensors'), path, options), { code: 'same-file' });
	assert.deepEqual(readFileSync(path), bytes);
	assert.equal(read(join(directory, 'config.json')), CONFIG);
});

test('outputs that cannot be: no directory, a directory, a device, a missing parent', async () => {
	const { directory, path } = model();
	const inside = await quantizeModelPath(path, folder(), options);
	assert.match(inside.files[0], /model.safetensors$/);
	await assert.rejects(quantizeModelPath(path, join(directory, 'no/out.safetensors'), options), {
		code: 'io',
		message: /no such file or directory/,
	});
	await assert.rejects(quantizeModelPath(path, join(path, 'out.safetensors'), options), {
		code: 'io',
		message: /no directory/,
	});
	if (process.platform !== 'win32') {
		for (const device of ['/dev/null', '/dev/full']) {
			await assert.rejects(quantizeModelPath(path, device, options), {
				code: 'io',
				message: /is no regular file/,
			});
			assert.ok(statSync(device).isCharacterDevice());
		}
	}
	await assert.rejects(fileSink(directory), { code: 'io', message: /is a directory/ });
	await assert.rejects(openModelPath(join(directory, 'none.safetensors')), { code: 'io', message: /no such file/ });
	await assert.rejects(openModelPath(folder()), { code: 'bad-argument', message: /holds no safetensors file/ });
	assert.deepEqual(readdirSync(directory), ['model.safetensors']);
});

test('a link as the output stays a link', async () => {
	const { path } = model();
	const directory = folder();
	writeFileSync(join(directory, 'real'), 'old');
	symlinkSync('real', join(directory, 'link.safetensors'));
	await quantizeModelPath(path, join(directory, 'link.safetensors'), options);
	assert.deepEqual(readdirSync(directory).sort(), ['link.safetensors', 'real']);
	assert.ok(statSync(join(directory, 'real')).size > 1000);
});

test('a failed run leaves the old output and nothing else', async () => {
	const directory = folder();
	const values = weights(512, 1);
	values[7] = Number.NaN;
	writeFileSync(
		join(directory, 'nan.safetensors'),
		safetensors([{ name: 'x.weight', dtype: 'F32', shape: [4, 128], data: bytesOf(values) }]),
	);
	writeFileSync(join(directory, 'out.safetensors'), 'old');
	for (const out of ['out.safetensors', 'new.safetensors']) {
		const running = quantizeModelPath(join(directory, 'nan.safetensors'), join(directory, out), options);
		await assert.rejects(running, { code: 'nonfinite', tensor: 'x.weight' });
	}
	const signal = AbortSignal.abort();
	await assert.rejects(
		quantizeModelPath(join(directory, 'nan.safetensors'), join(directory, 'out.safetensors'), {
			...options,
			signal,
		}),
		{ code: 'cancelled' },
	);
	assert.deepEqual(readdirSync(directory).sort(), ['nan.safetensors', 'out.safetensors']);
	assert.equal(read(join(directory, 'out.safetensors')), 'old');
});

test('a file that shrinks while it is read: an io error, no output', async () => {
	const { directory, path } = model();
	const onProgress = () => truncateSync(path, 5000);
	await assert.rejects(quantizeModelPath(path, join(directory, 'out.safetensors'), { ...options, onProgress }), {
		code: 'io',
		message: /ended early/,
	});
	assert.deepEqual(readdirSync(directory), ['model.safetensors']);
});

test('a directory of shards: all files appear together, with the index', async () => {
	const directory = folder();
	const config = join(directory, 'config.json');
	writeFileSync(config, CONFIG);
	const shard = (/** @type {string} */ name, seed = 1) =>
		safetensors([{ name, dtype: 'F32', shape: [4, 128], data: bytesOf(weights(512, seed)) }]);
	writeFileSync(join(directory, 'a.safetensors'), shard('a.weight'));
	writeFileSync(join(directory, 'b.safetensors'), shard('b.weight', 2));
	const map = { 'a.weight': 'a.safetensors', 'b.weight': 'b.safetensors' };
	writeFileSync(join(directory, 'model.safetensors.index.json'), JSON.stringify({ weight_map: map }));
	const out = join(folder(), 'quantized');
	const result = await quantizeModelPath(directory, out, options);
	const names = ['a.safetensors', 'b.safetensors', 'config.json', 'model.safetensors.index.json'];
	assert.deepEqual(readdirSync(out).sort(), names);
	assert.equal(result.files.length, 4);
	const after = await openModelPath(out);
	assert.equal(after.tensors.length, 6);
	await after.close();
	const back = await dequantizeModelPath(
		join(out, 'model.safetensors.index.json'),
		join(folder(), 'x.safetensors.index.json'),
	);
	assert.equal(back.tensors.length, 2);
	await assert.rejects(quantizeModelPath(directory, directory, options), { code: 'same-file' });
	await assert.rejects(quantizeModelPath(directory, join(folder(), 'x.safetensors'), options), {
		code: 'bad-argument',
	});

	// The second shard fails: the first, complete by then, must not stay, nor the directory that was made.
	const values = weights(512, 2).fill(Number.POSITIVE_INFINITY, 9, 10);
	writeFileSync(
		join(directory, 'b.safetensors'),
		safetensors([{ name: 'b.weight', dtype: 'F32', shape: [4, 128], data: bytesOf(values) }]),
	);
	const failed = join(folder(), 'failed');
	await assert.rejects(quantizeModelPath(directory, failed, options), { code: 'nonfinite', tensor: 'b.weight' });
	assert.ok(!existsSync(failed));
	rmSync(join(directory, 'b.safetensors'));
	await assert.rejects(quantizeModelPath(directory, failed, options), {
		code: 'io',
		message: /b.safetensors: no such file/,
	});
	assert.ok(!existsSync(failed));
});

test('files of one transaction get their names together: where one cannot, none is left', async () => {
	const directory = folder();
	const transaction = new FileTransaction();
	for (const name of ['one', 'two']) await (await transaction.open(join(directory, name))).write(noise(9, 1), 0);
	await assert.rejects(transaction.open(join(directory, 'one')), { code: 'bad-argument' });
	// Between the check and the end somebody makes a directory of that name.
	mkdirSync(join(directory, 'two'));
	await assert.rejects(transaction.commit(), { code: 'io', message: /cannot write .*two/ });
	assert.deepEqual(readdirSync(directory), ['two']);
});

test('writes in any order, reads in pieces', async () => {
	const path = join(folder(), 'x');
	const sink = await fileSink(path);
	const data = noise(1000, 3);
	await sink.write(data.subarray(600), 600);
	await sink.write(data.subarray(0, 600), 0);
	assert.ok(!existsSync(path));
	await sink.close?.();
	const source = await fileSource(path);
	assert.equal(source.size, 1000);
	assert.deepEqual(await source.read(10, 980), data.slice(10, 990));
	await assert.rejects(source.read(999, 2), { code: 'io', offset: 999 });
	await source.close();
});

const script = join(dirname(fileURLToPath(import.meta.url)), 'files-child.js');

test('a killed process leaves nothing: its temporary file goes with SIGINT, SIGTERM and SIGHUP', {
	skip: process.platform === 'win32',
}, async () => {
	for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'])) {
		const directory = folder();
		const child = spawn(process.execPath, [script, 'wait', join(directory, 'out')], {
			stdio: ['ignore', 'pipe', 'inherit'],
		});
		await once(child.stdout, 'data');
		assert.equal(readdirSync(directory).length, 1);
		child.kill(signal);
		const [, by] = await once(child, 'exit');
		assert.equal(by, signal);
		// Nobody sees SIGKILL coming; what it leaves is not under the final name.
		assert.ok(!existsSync(join(directory, 'out')));
		if (signal !== 'SIGKILL') assert.deepEqual(readdirSync(directory), [], signal);
	}
});

test('a process that ends by itself, without closing its file, leaves nothing', () => {
	const directory = folder();
	const { status } = spawnSync(process.execPath, [script, 'exit', join(directory, 'out')]);
	assert.equal(status, 3);
	assert.deepEqual(readdirSync(directory), []);
});

test('a full disk: one io error, nothing left', (t) => {
	// A limit on the file's size is what every user can set; a file system of its own needs root.
	const directory = folder();
	const mounted =
		process.getuid?.() === 0 &&
		spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', directory]).status === 0;
	try {
		const command = mounted ? 'exec "$@"' : 'ulimit -f 64 && exec "$@"';
		const { stdout, status } = spawnSync(
			'sh',
			['-c', command, 'sh', process.execPath, script, 'fill', join(directory, 'out')],
			{ encoding: 'utf8' },
		);
		if (status === null) return t.skip('neither a small file system nor a limit can be had here');
		assert.match(
			stdout,
			mounted ? /^io: cannot write .*no space left on the device \(ENOSPC\)/ : /^io: cannot write .*\(EFBIG\)/,
		);
		assert.deepEqual(readdirSync(directory), []);
	} finally {
		if (mounted) spawnSync('umount', [directory]);
	}
});

test('a directory that may not be written to: an io error, nothing left', {
	skip: process.platform === 'win32',
}, () => {
	const directory = folder();
	chmodSync(root, 0o755);
	chmodSync(directory, 0o555);
	// Root may write everywhere, so somebody else has to try.
	const identity = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
	const copy = join(directory, 'out');
	const { stdout } = spawnSync(process.execPath, [script, 'fill', copy], { encoding: 'utf8', ...identity });
	chmodSync(directory, 0o755);
	assert.match(stdout, /^io: cannot write .*permission denied \(EACCES\)/);
	assert.deepEqual(readdirSync(directory), []);
});
