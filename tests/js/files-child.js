// files-child.js - the other process of model-files.test.js: it writes a file, and then waits, exits or fills the disk.
// SPDX-License-Identifier: MIT

import { fileSink } from '../../js/node/file-sink.js';

const [, , what, path] = process.argv;

try {
	const sink = await fileSink(path);
	await sink.write(new Uint8Array(1000), 0);
	if (what === 'exit') process.exit(3);
	if (what === 'wait') {
		process.stdout.write('ready\n');
		setInterval(() => {}, 1000);
	}
	if (what === 'fill') {
		try {
			for (let offset = 0; offset < 2 ** 24; offset += 2 ** 14)
				await sink.write(new Uint8Array(2 ** 14).fill(1), offset);
			await sink.close?.();
			console.log('written');
		} catch (error) {
			await sink.abort?.();
			throw error;
		}
	}
} catch (error) {
	console.log(`${error.code}: ${error.message}`);
}
