// tensor.js - one tensor through a pool, band by band: the way that arrays and files share.
// SPDX-License-Identifier: MIT

import { MAX_BAND } from '../arrays/plan.js';
import { discard } from './discard.js';
import { eachInPlace } from './order.js';

/** @typedef {import('../arrays/plan.js').Band} Band */
/** @typedef {import('../arrays/job.js').TensorJob} TensorJob */
/** @typedef {import('../arrays/decode-job.js').DecodeJob} DecodeJob */
/** @typedef {import('./order.js').Run} Run */

/**
 * Bands with the planes that each has to write: one of the whole tensor, such as a global scale, comes with every band.
 * @param {TensorJob} job
 * @returns {Generator<{ band: Band, fresh: boolean[] }>}
 */
function* bandsToWrite(job) {
	const written = job.planes.map(() => 0);
	for (const band of job.bands(MAX_BAND)) {
		const fresh = band.planes.map(({ offset }, p) => offset >= written[p]);
		band.planes.forEach(({ offset, nbytes }, p) => {
			written[p] = offset + nbytes;
		});
		yield { band, fresh };
	}
}

/**
 * Where a tensor's weights come from.
 * @typedef {object} Weights
 * @property {(band: Band) => Uint8Array | Promise<Uint8Array>} read those of a band, to be given away
 * @property {(band: Band) => import('../arrays/task.js').DecodeTask | undefined} [first] what makes them out of what was read
 */

/**
 * Quantizes a tensor.
 * @param {Run} run
 * @param {TensorJob} job
 * @param {Weights} weights
 * @param {(plane: number, bytes: Uint8Array, offset: number) => unknown} write in any order, each byte once
 * @param {(band: Band) => void} [onBand] a band is written
 */
export async function encodeTensor(run, job, { read, first }, write, onBand) {
	/** @param {import('../arrays/task.js').Task} task @param {Band} band */
	const done = async (task, band) => run.pool.run({ ...task, first: first?.(band) }, [await read(band)], run.signal);
	if (job.passes === 2)
		await eachInPlace(
			run,
			job.bands(MAX_BAND),
			(band) => done(job.rangeTask(band), band),
			(found) => job.takeRange(found),
		);
	await eachInPlace(
		run,
		bandsToWrite(job),
		async ({ band, fresh }) => {
			const { planes, ...rest } = await done(job.encodeTask(band), band);
			for (const [p, bytes] of planes.entries()) if (fresh[p]) await write(p, bytes, band.planes[p].offset);
			discard(planes);
			onBand?.(band);
			// Results wait for those of the bands before: without their bytes.
			return rest;
		},
		(found) => job.takeEncoded(found),
	);
}

/**
 * Decodes a tensor.
 * @param {Run} run
 * @param {DecodeJob} job
 * @param {'f32' | 'f16' | 'bf16'} dtype of the result
 * @param {(band: Band) => Uint8Array[] | Promise<Uint8Array[]>} read the planes of a band, to be given away
 * @param {(bytes: Uint8Array, band: Band, infinite: number) => unknown} write in any order; infinite: how many are, in 16 bits
 */
export async function decodeTensor(run, job, dtype, read, write) {
	await eachInPlace(
		run,
		job.bands(MAX_BAND),
		async (band) => {
			const planes = await read(band);
			job.check(planes);
			const { bytes, report, infinite } = await run.pool.run(job.task(band, dtype), planes, run.signal);
			await write(bytes, band, infinite);
			discard([bytes]);
			return { report };
		},
		(done) => job.take(done),
	);
}
