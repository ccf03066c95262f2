// support.js - what tests of the core share: loading it, golden cases, one tensor through the core with its report, and
// the same tensor through the native builds.
// SPDX-License-Identifier: MIT

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decodeJob } from '../../js/arrays/decode-job.js';
import { tensorJob } from '../../js/arrays/job.js';
import { MAX_BAND, planTensor } from '../../js/arrays/plan.js';
import { DTYPES, KERNELS, MAX_RANK, NBYTES, Scheme } from '../../js/core/abi.js';
import { makeInit, theCore } from '../../js/core/init.js';
import { presetOf, presets } from '../../js/presets.js';
import { structOfScheme } from '../../js/scheme/read.js';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const kernelRows = KERNELS;

const init = makeInit(
	() => readFileSync(join(root, 'build/wasm/core.wasm')),
	() => ({ url: new URL('../../js/entry/worker.js', import.meta.url) }),
);

/** Loads the core with these kernels, anew. */
export const ready = (kernels = 'simd128') => init({ kernels });

export const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
export const bytesOf = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength);

/** The scheme without its name: the core takes the generic path. */
export function unnamed(scheme) {
	const { name: _, ...same } = scheme;
	return same;
}

/** Whether a preset may be given an imatrix, and whether it is not made without one. */
export const [takesImatrix, needsImatrix] = ['takes_importance', 'needs_importance'].map((field) => ({ name }) => {
	const preset = presets().get(name);
	return preset !== undefined && planTensor(preset.scheme, [256, 256], 'f32').plan[field] === 1;
});

/** The golden sets that are here: the project's own, and the larger shared one where it is checked out. */
export const goldenFolders = [join(root, 'tests/golden'), join(root, '../shared/golden')].filter((folder) =>
	existsSync(folder),
);

/** Numbers of a dtype from a file's bytes, aligned. */
export function numbers(bytes, dtype) {
	const own = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
	return dtype === 'f32' ? new Float32Array(own) : new Uint16Array(own);
}

/** The cases of ggml types that this version has. */
export function ggmlCases(folder, names) {
	const index = JSON.parse(readFileSync(join(folder, 'ggml/index.json'), 'utf8'));
	const read = (name) => name && numbers(readFileSync(join(folder, 'ggml/inputs', `${name}.f32`)), 'f32');
	return index.cases
		.filter(({ type }) => names.has(`ggml:${type.toLowerCase()}`))
		.map((each) => ({
			...each,
			preset: `ggml:${each.type.toLowerCase()}`,
			shape: [index.rows, index.cols],
			data: read(each.input),
			imatrix: read(each.imatrix) ?? undefined,
			expected: readFileSync(join(folder, 'ggml/expected', `${each.type}.bin`)).subarray(
				each.offset,
				each.offset + each.length,
			),
		}));
}

/** A safetensors file of golden data. */
export function readSafetensors(path) {
	const file = readFileSync(path);
	const begin = 8 + Number(file.readBigUInt64LE(0));
	const { __metadata__: metadata, ...header } = JSON.parse(file.subarray(8, begin).toString());
	const tensors = Object.entries(header).map(
		([
			name,
			{
				dtype,
				shape,
				data_offsets: [from, to],
			},
		]) => [name, { dtype, shape, bytes: file.subarray(begin + from, begin + to) }],
	);
	return { metadata, tensors: Object.fromEntries(tensors) };
}

/** The cases of compressed-tensors: a weight, a scheme, the planes and what they decode to. */
export function ctCases(folder) {
	const at = (name) => join(folder, 'compressed-tensors', name);
	const corrected = JSON.parse(readFileSync(at('decompressed-0.20.1.json'), 'utf8'));
	return readdirSync(join(folder, 'compressed-tensors'))
		.filter((name) => name.endsWith('.safetensors') && !name.startsWith('input'))
		.map((name) => {
			const [scheme, kind, dtype] = name.replace('.safetensors', '').split('__');
			const { metadata, tensors } = readSafetensors(at(name));
			const { weight } = readSafetensors(at(`input__${kind}__${dtype}.safetensors`)).tensors;
			const decoded = corrected[name] ?? JSON.parse(metadata.decompressed);
			return {
				name,
				scheme,
				kind,
				dtype,
				json: JSON.parse(metadata.scheme),
				shape: weight.shape,
				data: numbers(weight.bytes, dtype),
				expected: tensors,
				decodedDtype: (decoded.decompressed_dtype ?? decoded.dtype).toLowerCase(),
				decodedSha256: decoded.decompressed_sha256 ?? decoded.sha256,
			};
		});
}

/** One tensor through the core in bands of at most bandBytes: its planes, decoded and fake-quantized values, reports. */
export function throughCore({ data, bandBytes = MAX_BAND, decode = true, ...options }) {
	const job = tensorJob({ overflow: 'allow', nonfinite: 'allow', ...options });
	const nbytes = NBYTES[options.dtype];
	const part = ({ valueOffset, nvalues }) =>
		bytesOf(data).subarray(valueOffset * nbytes, (valueOffset + nvalues) * nbytes);
	const stored = job.planes.map((plane) => new Uint8Array(plane.nbytes).fill(0xa5));
	if (job.passes === 2) for (const band of job.bands(bandBytes)) job.range(band, part(band));
	for (const band of job.bands(bandBytes))
		job.encode(band, part(band)).forEach((bytes, p) => {
			stored[p].set(bytes, band.planes[p].offset);
		});
	const report = job.finish();
	const result = { infos: job.planes, stored, report };
	if (!decode) return result;
	const decoded = [false, true].map((fake) =>
		decodeStored({ ...options, fake, planes: job.planes }, stored, data.length, bandBytes),
	);
	return { ...result, values: decoded[0].values, fake: decoded[1].values, decodeReport: decoded[0].report };
}

/** The values of stored planes. */
export function decodeStored({ scheme, shape, dtype, fake = false, planes }, stored, count, bandBytes = MAX_BAND) {
	const job = decodeJob({ scheme, shape, dtype, fake, planes });
	const values = new Float32Array(count);
	for (const band of job.bands(bandBytes)) {
		const bytes = band.planes.map(({ offset, nbytes }, p) => stored[p].subarray(offset, offset + nbytes));
		values.set(job.decode(band, bytes), band.valueOffset);
	}
	return { values, report: job.finish() };
}

/** The native builds that are there: gcc, and clang with sanitizers. */
export const nativeBuilds = ['build/sanitize', 'build/native']
	.map((folder) => join(root, folder, 'blockquant-native'))
	.filter(existsSync);

const dims = new BigUint64Array(MAX_RANK);

/** Many tensors through a native build; the result of each as throughCore() gives it, without reports. */
export function throughNative(program, kernels, cases) {
	const jobs = [];
	for (const { scheme, shape, dtype, data, imatrix, ranges, correct = false, bandBytes = MAX_BAND } of cases) {
		const head = Buffer.alloc(Math.ceil(Scheme.size / 8) * 8 + 32 + 8 * MAX_RANK);
		const view = new DataView(head.buffer, head.byteOffset);
		Scheme.write(view, 0, presetOf(scheme)?.struct ?? structOfScheme(scheme));
		const rows = imatrix ? imatrix.length / shape.at(-1) : 0;
		const fields = [
			DTYPES.indexOf(dtype),
			KERNELS.indexOf(kernels),
			shape.length,
			correct ? 1 : 0,
			bandBytes,
			rows,
		];
		fields.forEach((field, i) => {
			view.setUint32(Scheme.size + 4 * i, field, true);
		});
		view.setBigUint64(Scheme.size + 24, BigInt(ranges?.min.length ?? 0), true);
		dims.fill(0n);
		shape.forEach((dim, i) => {
			dims[i] = BigInt(dim);
		});
		head.set(bytesOf(dims), head.length - 8 * MAX_RANK);
		const { table } = structOfScheme(scheme.name ? { ...unnamed(scheme) } : scheme);
		const given = [table, data, imatrix, ranges?.min, ranges?.max];
		jobs.push(head, ...given.filter(Boolean).map(bytesOf));
	}
	const { stdout, stderr, status } = spawnSync(program, { input: Buffer.concat(jobs), maxBuffer: 2 ** 31 - 1 });
	if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`);
	let at = 0;
	const take = (nbytes) => stdout.subarray(at, (at += nbytes));
	return cases.map(({ scheme, shape, dtype, data }) => {
		const head = take(8);
		const stored = planTensor(scheme, shape, dtype).planes.map((plane) => take(plane.nbytes));
		const [values, fake] = [take(4 * data.length), take(4 * data.length)];
		return { status: head.readUInt32LE(0), fused: head.readUInt32LE(4) === 1, stored, values, fake };
	});
}

/** A small generator with a fixed seed: the upper bits of a 32-bit LCG. */
export function random(seed = 1) {
	let state = seed >>> 0;
	const next = () => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return state / 2 ** 32;
	};
	return {
		next,
		below: (n) => Math.floor(next() * n),
		normal: () => (next() + next() + next() + next() - 2) * Math.sqrt(3),
	};
}

/** Float32 values as an array of dtype, rounded by the core. */
export function asDtype(values, dtype) {
	if (dtype === 'f32') return values;
	return numbers(theCore().convert('f32', dtype, values.length, values, values.length * 2), dtype);
}
