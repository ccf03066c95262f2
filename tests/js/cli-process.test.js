// cli-process.test.js - the command as a process: signals, pipes, progress, memory.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { withProgress } from '../../js/cli/progress.js';
import { gguf } from './gguf-support.js';
import { cli, headerOf, root, run, start, temporaryFolder } from './cli-support.js';

const folder = temporaryFolder();
const model = join(folder, 'large.safetensors');

/** A model that takes a second or more: 2 GB of zeros, as a sparse file. */
before(() => {
	const shape = [32768, 32768];
	const { bytes, dataNbytes } = headerOf({ 'a.q_proj.weight': { dtype: 'BF16', shape, nbytes: 2 * 32768 ** 2 } });
	const file = openSync(model, 'w');
	writeSync(file, bytes);
	ftruncateSync(file, bytes.length + dataNbytes);
	closeSync(file);
});

/** Starts to quantize into a new folder; resolves when some output is there. */
async function startQuantizing(name, input = model, output = 'out.safetensors', options = ['--scheme', 'w4a16']) {
	const directory = join(folder, name);
	mkdirSync(directory);
	const { child, ended } = start('quantize', input, join(directory, output), ...options);
	while (readdirSync(directory).length === 0) {
		assert.equal(child.exitCode, null, 'it ended before it wrote anything');
		await sleep(5);
	}
	return { directory, child, ended };
}

describe('interrupted', () => {
	it('by SIGINT it leaves nothing, says so in one line, and ends with 130', async () => {
		const { directory, child, ended } = await startQuantizing('int');
		child.kill('SIGINT');
		assert.deepEqual(await ended, {
			code: 130,
			signal: null,
			stderr: 'blockquant: interrupted: no output is left\n',
		});
		assert.deepEqual(readdirSync(directory), []);
	});

	it('by SIGTERM it leaves nothing', async () => {
		const { directory, child, ended } = await startQuantizing('term');
		child.kill('SIGTERM');
		assert.equal((await ended).signal, 'SIGTERM');
		assert.deepEqual(readdirSync(directory), []);
	});

	it('by SIGKILL it leaves no file under the final name', async () => {
		const { directory, child, ended } = await startQuantizing('kill');
		child.kill('SIGKILL');
		assert.equal((await ended).signal, 'SIGKILL');
		for (const name of readdirSync(directory)) assert.match(name, /^\.out\.safetensors\..*\.tmp$/);
	});

	it('by no pattern: each is decided at once', { timeout: 60_000 }, async () => {
		const directory = join(folder, 'pattern');
		mkdirSync(directory);
		const names = join(directory, 'in.safetensors');
		const { bytes, dataNbytes } = headerOf({
			[`${'a'.repeat(60)}.weight`]: { dtype: 'F32', shape: [1], nbytes: 4 },
		});
		writeFileSync(names, Buffer.concat([bytes, Buffer.alloc(dataNbytes)]));
		const args = ['--scheme', 'w4a16', '--include', '(a+)+$'];
		const { ended } = start('quantize', names, join(directory, 'out.safetensors'), ...args);
		const { code, stderr } = await ended;
		assert.equal(code, 1);
		assert.match(stderr, /no tensor/);
		assert.deepEqual(readdirSync(directory), ['in.safetensors']);
	});

	it('by SIGKILL while it writes a GGUF file it leaves none under the final name', async () => {
		const path = join(folder, 'large.gguf');
		const start = gguf({ tensors: [{ name: 'a.weight', dims: [32768, 32768], type: 1, data: new Uint8Array(0) }] });
		const file = openSync(path, 'w');
		writeSync(file, start);
		ftruncateSync(file, start.length + 2 * 32768 ** 2);
		closeSync(file);
		for (const [name, milliseconds] of Object.entries({ early: 0, later: 300 })) {
			const args = ['--scheme', 'q8_0', '--pure'];
			const { directory, child, ended } = await startQuantizing(`kill-${name}`, path, 'out.gguf', args);
			await sleep(milliseconds);
			child.kill('SIGKILL');
			assert.equal((await ended).signal, 'SIGKILL');
			for (const left of readdirSync(directory)) assert.match(left, /^\.out\.gguf\..*\.tmp$/);
		}
	});

	it('by a reader that closes the pipe it does not fail', async () => {
		const child = spawn(process.execPath, [cli, 'schemes', '--json'], { stdio: ['ignore', 'pipe', 'pipe'] });
		child.stdout.destroy();
		let stderr = '';
		child.stderr.on('data', (text) => (stderr += text));
		const code = await new Promise((resolve) => child.on('close', resolve));
		assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
	});

	it('by a full disk behind stdout it fails', { skip: process.platform !== 'linux' && '/dev/full is Linux' }, () => {
		const full = openSync('/dev/full', 'w');
		const { status, stderr } = spawnSync(process.execPath, [cli, 'schemes'], {
			stdio: ['ignore', full, 'pipe'],
			encoding: 'utf8',
		});
		closeSync(full);
		assert.equal(status, 1);
		assert.match(stderr, /^blockquant: cannot write to stdout: no space left on the device \(ENOSPC\)\n$/);
	});
});

describe('errors', () => {
	it('show where they come from with BLOCKQUANT_DEBUG=1 alone', () => {
		const env = { ...process.env, BLOCKQUANT_DEBUG: '1' };
		const args = [cli, 'inspect', join(folder, 'absent')];
		assert.match(spawnSync(process.execPath, args, { env, encoding: 'utf8' }).stderr, /\n {4}at /);
		assert.doesNotMatch(run('inspect', join(folder, 'absent')).stderr, /\n./);
	});

	it('keep control characters of file and tensor names off the terminal', () => {
		const { stderr } = run('inspect', join(folder, 'a\nb\u001b[31m'));
		assert.match(stderr, /^blockquant: cannot open .*a\\nb\\u001b\[31m: no such file[^\n]*\n$/);
	});
});

describe('progress', () => {
	/** What withProgress() writes to a stream while three steps of 400 ms pass. */
	async function written(isTTY) {
		let text = '';
		const stream = new Writable({
			write(chunk, _, done) {
				text += chunk;
				done();
			},
		});
		Object.assign(stream, { isTTY, columns: 120 });
		const result = await withProgress(
			(perSecond) => `${Math.round(perSecond / 100)} per ds`,
			async (onProgress) => {
				for (const done of [0, 50, 100]) {
					onProgress({ tensor: 'a\nweight', done, total: 100 });
					await sleep(250);
				}
				return 'result';
			},
			stream,
		);
		assert.equal(result, 'result');
		return text;
	}

	it('shows share, rate, time left and tensor on a terminal', async () => {
		assert.match(await written(true), /\[=+ +\] 50% {2}\d+ per ds {2}\d+s left {2}a\\nweight/);
	});

	it('is silent elsewhere', async () => assert.equal(await written(false), ''));
});

describe('memory', () => {
	it('stays below 400 MB on a tensor of 1.5 GB and two hundred small ones', { timeout: 300_000 }, () => {
		const args = [join(root, 'scripts/memory.mjs'), '--json', '--limit', '400', 'w4a16', 'nvfp4a16', 'q8_0'];
		const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
		assert.equal(status, 0, stderr);
		assert.ok(JSON.parse(stdout).worst > 30, 'a figure that can be one');
		assert.ok(JSON.parse(stdout).nbytes > 1.5e9);
	});
});
