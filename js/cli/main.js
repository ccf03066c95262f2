// main.js - the command `blockquant`: arguments in, exit code out. 0 done, 1 failed, 2 wrong usage, 130 interrupted.
// SPDX-License-Identifier: MIT

import process from 'node:process';
import { systemError } from '../node/system-error.js';
import { exitCodeOf, report } from './errors.js';
import { program } from './program.js';

/* A reader who has seen enough (`blockquant schemes | head -1`) is no failure; a full disk behind stdout is one. */
process.stdout.on('error', (error) => {
	if ('code' in error && error.code === 'EPIPE') return;
	report(systemError(error, 'cannot write to stdout'));
	process.exitCode = 1;
});
process.stderr.on('error', () => {});

try {
	await program().parseAsync();
} catch (error) {
	report(error);
	process.exitCode = exitCodeOf(error);
}
