// golden.test.js - the references' own bytes, through both paths of the core and both rows of kernels.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromCompressedTensors } from '../../js/compressed-tensors/from.js';
import { theCore } from '../../js/core/init.js';
import { presets } from '../../js/presets.js';
import {
	bytesOf,
	ctCases,
	decodeStored,
	ggmlCases,
	goldenFolders,
	kernelRows,
	ready,
	sha256,
	throughCore,
	unnamed,
} from './support.js';

/** Presets of this version, at least, in golden data of compressed-tensors. */
const SLICE = [
	...['W4A16', 'W4A16_ASYM', 'W8A16', 'FP8_DYNAMIC', 'NVFP4A16', 'MXFP4A16', 'INT8', 'FP8', 'FP8_BLOCK', 'MXFP8A16'],
];

const sameBytes = (got, expected, what) => assert.ok(Buffer.compare(got, expected) === 0, `${what}: bytes differ`);

for (const kernels of kernelRows) {
	for (const folder of goldenFolders) {
		test(`ggml, ${kernels}: every case of ${folder} in both paths`, async () => {
			await ready(kernels);
			const cases = ggmlCases(folder, presets());
			assert.equal(cases.length, 22 * 75 + 3 * 50 + 2); // three types are not made without an imatrix
			for (const { preset, type, input, imatrix, shape, data, expected, dequantized_sha256: decoded } of cases) {
				const what = `${type} ${input}${imatrix ? ' with imatrix' : ''}`;
				const { scheme } = presets().get(preset);
				const fused = throughCore({ scheme, shape, dtype: 'f32', data, imatrix });
				assert.deepEqual([fused.report.fusedValues, fused.report.genericValues], [data.length, 0], what);
				sameBytes(fused.stored[0], expected, `${what}, fused`);
				assert.equal(sha256(bytesOf(fused.values)), decoded, `${what}, fused, decoded`);

				const generic = { scheme: unnamed(scheme), shape, dtype: 'f32', planes: fused.infos };
				const { values, report } = decodeStored(generic, [expected], data.length);
				assert.deepEqual([report.fusedValues, report.genericValues], [0, data.length], what);
				assert.equal(sha256(bytesOf(values)), decoded, `${what}, generic, decoded`);
				// A search, and weights, are beyond what the language says: only the fused kernel does them.
				if (imatrix || scheme.calibration === 'search') continue;
				const staged = throughCore({ ...generic, data, decode: false });
				assert.deepEqual([staged.report.fusedValues, staged.report.genericValues], [0, data.length], what);
				sameBytes(staged.stored[0], expected, `${what}, generic`);
			}
		});

		test(`compressed-tensors, ${kernels}: every case of ${folder} in both paths`, async () => {
			await ready(kernels);
			const cases = ctCases(folder);
			for (const name of SLICE) assert.equal(cases.filter(({ scheme }) => scheme === name).length, 9, name);
			let compared = 0;
			for (const {
				name,
				scheme: said,
				dtype,
				json,
				shape,
				data,
				expected,
				decodedDtype,
				decodedSha256,
			} of cases) {
				const scheme = fromCompressedTensors(json);
				// INT8 and W8A8 are two names of one scheme; the grids of arguments have none.
				if (/^[A-Z]/.test(said))
					assert.equal(scheme.name, `ct:${said === 'W8A8' ? 'int8' : said.toLowerCase()}`);
				const hasKernel = presets().get(scheme.name)?.struct.fused > 0;
				for (const each of hasKernel ? [scheme, unnamed(scheme)] : [scheme]) {
					const fused = hasKernel && each === scheme;
					const what = `${name}${fused ? '' : ', generic'}`;
					const { infos, stored, values, report } = throughCore({ scheme: each, shape, dtype, data });
					assert.deepEqual(infos.map((plane) => plane.name).sort(), Object.keys(expected).sort(), what);
					infos.forEach((plane, p) => {
						const plain = expected[plane.name];
						assert.deepEqual(
							[plane.dtype, plane.shape],
							[plain.dtype, plain.shape],
							`${what} ${plane.name}`,
						);
						sameBytes(stored[p], plain.bytes, `${what} ${plane.name}`);
					});
					assert.equal(fused ? report.fusedValues : report.genericValues, data.length, what);
					const decoded =
						decodedDtype === 'f32'
							? bytesOf(values)
							: theCore().convert('f32', decodedDtype, values.length, values, 2 * values.length);
					assert.equal(sha256(decoded), decodedSha256, `${what}, decoded`);
				}
				compared++;
			}
			assert.ok(compared >= 9 * SLICE.length);
		});
	}
}
