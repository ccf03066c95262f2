// check-package.mjs - what users' tools will say of the package: publint, and attw for every way to import it.
// `npm run check:package`, after a build.
// SPDX-License-Identifier: MIT
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

const { messages, pkg } = await publint({ pkgDir: root, strict: true });
for (const message of messages) console.log(`publint: ${message.type}: ${formatMessage(message, pkg)}`);
console.log(messages.length ? `publint: ${messages.length} messages` : 'publint: All good!');

const folder = mkdtempSync(join(tmpdir(), 'blockquant-pack-'));
let attw = 1;
try {
	const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
		cwd: root,
		encoding: 'utf8',
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	const parsed = JSON.parse(packed);
	const { filename } = Array.isArray(parsed) ? parsed[0] : Object.values(parsed)[0];
	/* core.wasm is no JavaScript. The entries other than "." are ESM only: Node 20's require() cannot load those. */
	const rules = [
		'--profile',
		'node16',
		'--exclude-entrypoints',
		'./core.wasm',
		'--ignore-rules',
		'cjs-resolves-to-esm',
	];
	const command = join(root, 'node_modules/.bin/attw');
	attw = spawnSync(command, [join(folder, filename), ...rules, '--format', 'ascii', '--no-emoji'], {
		stdio: 'inherit',
		cwd: root,
	}).status;
} finally {
	rmSync(folder, { recursive: true, force: true });
}
process.exit(messages.length || attw ? 1 : 0);
