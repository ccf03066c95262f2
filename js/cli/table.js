// table.js - tables of text: no lines, no colours, so that they can be cut and grepped.
// SPDX-License-Identifier: MIT

import Table from 'cli-table3';
import { printable } from './errors.js';

const NOTHING = {
	...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '', bottom: '', 'bottom-mid': '', 'bottom-left': '' },
	...{
		'bottom-right': '',
		left: '',
		'left-mid': '',
		mid: '',
		'mid-mid': '',
		right: '',
		'right-mid': '',
		middle: '  ',
	},
};

/**
 * @param {string[]} head a column whose title begins with '>' is one of numbers, to the right
 * @param {(string | number)[][]} rows
 */
export function table(head, rows) {
	const numeric = head.map((title) => title.startsWith('>'));
	const lines = new Table({
		head: head.map((title, i) => (numeric[i] ? title.slice(1) : title)),
		colAligns: numeric.map((right) => (right ? 'right' : 'left')),
		chars: NOTHING,
		style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
	});
	lines.push(...rows.map((row) => row.map((cell) => printable(String(cell)))));
	return lines
		.toString()
		.split('\n')
		.map((line) => line.trimEnd())
		.join('\n');
}
