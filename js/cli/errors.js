// errors.js - what went wrong, as one line on stderr and an exit code.
// SPDX-License-Identifier: MIT

import process from 'node:process';
import { CommanderError } from 'commander';
import { BlockQuantError, messageOf } from '../errors.js';

const FAILED = 1;
const WRONG_USAGE = 2;

/** As a shell says of a program that SIGINT ended. */
const INTERRUPTED = 130;

/** Errors whose cause is a value on the command line. @type {Partial<Record<import('../errors.js').ErrorCode, number>>} */
const EXIT_CODES = {
	'bad-argument': WRONG_USAGE,
	'unknown-scheme': WRONG_USAGE,
	'bad-scheme': WRONG_USAGE,
	cancelled: INTERRUPTED,
};

/** What the command says of options of the library that would help. @type {Record<string, string>} */
const ADVICE = {
	pure: '--pure lets it through',
	allowRequantize: '--allow-requantize lets it through',
	missingImportance: '--missing-importance ones lets it through',
	include: '--include selects more',
};

/** @param {unknown} error */
export function exitCodeOf(error) {
	// Commander throws for --help and --version, too.
	if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE;
	return (error instanceof BlockQuantError && EXIT_CODES[error.code]) || FAILED;
}

/**
 * Text from outside as it may stand on a terminal: in one line, without control characters.
 * @param {string} text
 */
export function printable(text) {
	return text.replace(/[\p{Cc}\u2028\u2029]/gu, (character) => JSON.stringify(character).slice(1, -1));
}

/** @param {unknown} error */
function lineOf(error) {
	if (error instanceof CommanderError) return error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
	if (error instanceof BlockQuantError) {
		const { code, message, option } = error;
		const advice = code === 'unknown-scheme' ? '`blockquant schemes` lists them' : option && ADVICE[option];
		return advice ? `${message} (${advice})` : message;
	}
	return `internal error, please report it: ${messageOf(error)}`;
}

/**
 * Says what went wrong; with BLOCKQUANT_DEBUG=1 where in the program, too.
 * @param {unknown} error
 */
export function report(error) {
	// What Commander throws for --help and --version is printed already.
	if (error instanceof CommanderError && (error.exitCode === 0 || error.code === 'commander.help')) return;
	process.stderr.write(`blockquant: ${printable(lineOf(error))}\n`);
	if (process.env.BLOCKQUANT_DEBUG === '1' && error instanceof Error) process.stderr.write(`${error.stack}\n`);
}

/** @param {string[]} warnings */
export function warn(warnings) {
	for (const warning of warnings) process.stderr.write(`blockquant: warning: ${printable(warning)}\n`);
}
