// model-files.test.js - models by path: nothing is overwritten, nothing is left behind.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import {
	existsSync,
	linkSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	truncateSync,
	writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { before, test } from 'node:test';
import { fileSink } from '../../js/node/file-sink.js';
import { dequantizeModelPath, openModelPath, quantizeModelPath } from '../../js/node/model-files.js';
import { bytesOf, llama, safetensors, weights } from './files-support.js';
import { CONFIG, folder, model, options, read } from './folders.js';
import { ready } from './support.js';

before(() => ready());

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
	await assert.rejects(openModelPath(folder()), { code: 'bad-argument', message: /holds no model file/ });
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
