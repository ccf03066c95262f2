// file-sink.test.js - files that get their names together or not at all, whatever ends the process.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { FileTransaction, fileSink } from '../../js/node/file-sink.js';
import { fileSource } from '../../js/node/file-source.js';
import { noise } from './files-support.js';
import { folder, root } from './folders.js';
import { ready } from './support.js';

before(() => ready());

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

test('where a name cannot be given, every file that was there is as it was', async () => {
	/** @param {(directory: string) => void} disturb @param {RegExp} message */
	const failing = async (disturb, message) => {
		const directory = folder();
		const names = ['a', 'b', 'c', 'd'];
		for (const name of ['a', 'c']) writeFileSync(join(directory, name), `old ${name}`);
		const transaction = new FileTransaction();
		for (const name of names) await (await transaction.open(join(directory, name))).write(noise(9, 1), 0);
		disturb(directory);
		await assert.rejects(transaction.commit(), { code: 'io', message });
		for (const name of ['a', 'c']) assert.equal(readFileSync(join(directory, name), 'utf8'), `old ${name}`);
		return readdirSync(directory).sort();
	};
	// Before the first name is given it can be seen that one will not do.
	const seen = await failing((directory) => mkdirSync(join(directory, 'd')), /cannot write .*d: is a directory/);
	assert.deepEqual(seen, ['a', 'c', 'd']);
	// Only the last rename shows it: its temporary file is gone.
	const gone = await failing((directory) => {
		const last = readdirSync(directory).find((name) => name.startsWith('.d.'));
		rmSync(join(directory, last ?? ''));
	}, /cannot write .*d: no such file/);
	assert.deepEqual(gone, ['a', 'c']);
});

test('files that are replaced leave no second copy', async () => {
	const directory = folder();
	for (const name of ['a', 'b']) writeFileSync(join(directory, name), 'old');
	const transaction = new FileTransaction();
	for (const name of ['a', 'b']) await (await transaction.open(join(directory, name))).write(noise(9, 1), 0);
	await transaction.commit();
	assert.deepEqual(readdirSync(directory).sort(), ['a', 'b']);
	assert.deepEqual(new Uint8Array(readFileSync(join(directory, 'a'))), noise(9, 1));
});

test('one file whose temporary file is gone: what was there stays', async () => {
	const directory = folder();
	writeFileSync(join(directory, 'a'), 'old');
	const sink = await fileSink(join(directory, 'a'));
	for (const name of readdirSync(directory)) if (name.startsWith('.')) rmSync(join(directory, name));
	await assert.rejects(async () => sink.close?.(), { code: 'io', message: /no such file/ });
	assert.deepEqual(readdirSync(directory), ['a']);
	await assert.rejects(fileSink(/** @type {any} */ (5)), { code: 'bad-argument' });
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

test('what SIGKILL left goes with the next output into the folder; what may be in use stays', {
	skip: process.platform === 'win32',
}, async () => {
	const directory = folder();
	const temporaries = () => readdirSync(directory).filter((name) => name.endsWith('.tmp'));
	/** Starts to write a file, and does not end. @param {string} name */
	const begin = async (name) => {
		const before = temporaries();
		const child = spawn(process.execPath, [script, 'wait', join(directory, name)], {
			stdio: ['ignore', 'pipe', 'inherit'],
		});
		await once(child.stdout, 'data');
		return { child, temporary: temporaries().find((one) => !before.includes(one)) ?? '' };
	};
	const killed = await begin('killed');
	const running = await begin('running');
	killed.child.kill('SIGKILL');
	await once(killed.child, 'exit');
	const pid = String(killed.child.pid);
	assert.ok(killed.temporary.includes(`-${pid}-`), killed.temporary);
	const [place] = killed.temporary.match(/[\da-f]{8}(?=-\d+-)/) ?? [];
	const own = await fileSink(join(directory, 'own'));
	const [ours] = temporaries().filter((name) => name.startsWith('.own.'));
	const kept = [
		running.temporary,
		ours,
		// Of another machine or container, of a number that no process can have, a file that was replaced, and names that are not ours.
		killed.temporary.replace(String(place), '00000000'),
		killed.temporary.replace(pid, '99999999999'),
		`${killed.temporary}.old`,
		`.killed.${pid}-0123abcd.tmp`,
		killed.temporary.slice(1),
	];
	for (const name of [killed.temporary, ...kept.slice(2)]) writeFileSync(join(directory, name), 'x');
	const next = await fileSink(join(directory, 'next'));
	const left = readdirSync(directory).filter((name) => !name.startsWith('.next.'));
	assert.deepEqual(left.sort(), kept.sort());
	await next.abort?.();
	await own.abort?.();
	running.child.kill('SIGTERM');
	await once(running.child, 'exit');
	assert.ok(!existsSync(join(directory, running.temporary)));
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
