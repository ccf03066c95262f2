// observer.js - a fake quantizer over many batches: it measures ranges, keeps them by its calculator, quantizes with them.
// SPDX-License-Identifier: MIT

import { given, optional, optionsOf } from '../arguments.js';
import { widened } from '../arrays/floats.js';
import { fakeQuantize } from '../arrays/quantize.js';
import { plainWeights, weightBytes, weightsDtype } from '../arrays/weights.js';
import { BlockQuantError, shown } from '../errors.js';
import { flag, word } from '../problems.js';
import { makeScheme } from '../scheme/object.js';
import { merged, OBSERVER, readObserver } from './calculators.js';
import { BATCH, measure, withFixedEnds } from './measure.js';
import { PHASES, readSchedule, switchesAt } from './schedule.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */
/** @typedef {import('./measure.js').BatchOptions} BatchOptions */
/** @typedef {import('../arrays/weights.js').Weights} Weights */

/**
 * @typedef {object} ObserverOptions what is not said here is said by the scheme's own `observer`
 * @property {string} [calculator] `static` (default), `moving_average`, `global_minmax` or `dynamic`
 * @property {number} [constant] weight of a new batch in a moving average; default 0.01
 * @property {[number | null, number | null]} [range] ends that are fixed instead of measured
 * @property {'weight' | 'activation'} [target] what is observed; default activation
 * @property {import('./schedule.js').Schedule} [schedule] of training
 */

const OPTIONS = {
	...Object.fromEntries(Object.entries(OBSERVER).map(([name, { read }]) => [name, optional(read)])),
	target: { default: 'activation', read: word(Object.keys(PHASES)) },
	schedule: optional(readSchedule),
};
const SWITCHES = { observing: optional(flag), fakeQuantizing: optional(flag), exporting: optional(flag) };
const DEFAULT_CONSTANT = 0.01;

/** One fake quantizer: of one weight, or of one place where activations pass. */
export class Observer {
	#scheme;
	#how;
	#target;
	#schedule;
	/** @type {import('./calculators.js').Ranges | null} */
	#ranges = null;
	#switches = { observing: true, fakeQuantizing: true, exporting: false };
	/** @type {import('./schedule.js').Phase | 'rest'} */
	#phase = 'rest';
	#step = 0;

	/** @param {string | Scheme} scheme @param {ObserverOptions} [options] */
	constructor(scheme, options = {}) {
		const { target, schedule, ...own } = optionsOf(OPTIONS, options);
		this.#scheme = makeScheme(scheme);
		const { calibration = 'minmax' } = this.#scheme;
		if (calibration !== 'minmax')
			throw new BlockQuantError(
				'unsupported',
				`calibration: an observer takes minima and maxima, not ${shown(calibration)}`,
			);
		this.#how = { calculator: 'static', ...this.#scheme.observer, ...own };
		given('observer', this.#how, readObserver);
		this.#target = /** @type {keyof typeof PHASES} */ (target);
		this.#schedule = schedule;
	}

	/** What it does with the next batch, and how often step() was called. */
	get state() {
		return { ...this.#switches, phase: this.#phase, step: this.#step };
	}

	/** The ranges so far, for quantize(); of the last batch where none are kept. @returns {{ min: Float32Array, max: Float32Array }} */
	get ranges() {
		if (!this.#ranges)
			throw new BlockQuantError('bad-argument', 'nothing was observed yet, so there are no ranges');
		return { min: this.#ranges.lo.slice(), max: this.#ranges.hi.slice() };
	}

	/**
	 * Turns parts on or off. Exporting: the ranges stay as they are. Where there is a schedule, it alone turns things on and
	 * off; a dynamic observer always measures, so it turns no measuring off and has nothing to export.
	 * @param {{ observing?: boolean, fakeQuantizing?: boolean, exporting?: boolean }} switches
	 */
	set(switches) {
		const said = optionsOf(SWITCHES, switches);
		if (this.#schedule && ('observing' in said || 'fakeQuantizing' in said))
			throw new BlockQuantError('bad-argument', 'the schedule turns this observer on and off');
		const dynamic = this.#how.calculator === 'dynamic';
		if (dynamic && said.exporting)
			throw new BlockQuantError('unsupported', 'a dynamic observer keeps no ranges that could be exported');
		Object.assign(this.#switches, said, dynamic && { observing: true });
	}

	/** @param {import('./schedule.js').Phase} phase */
	enter(phase) {
		given('phase', phase, word(['calibration', 'training']));
		if (this.#phase !== 'rest')
			throw new BlockQuantError('bad-argument', `the observer is in ${this.#phase} already: leave() first`);
		this.#phase = phase;
		this.#apply();
	}

	/** Ends a phase: what was measured is used and stays. */
	leave() {
		this.#phase = 'rest';
		this.#apply();
	}

	/** The next step of training; steps are counted over all phases. */
	step() {
		if (this.#phase !== 'training')
			throw new BlockQuantError('bad-argument', 'step() is for training: enter() first');
		this.#step++;
		if (this.#schedule) this.#apply();
	}

	#apply() {
		const scheduled = this.#phase === 'training' && this.#schedule;
		const switches = scheduled ? switchesAt(this.#schedule ?? {}, this.#step) : PHASES[this.#target][this.#phase];
		Object.assign(this.#switches, switches, this.#how.calculator === 'dynamic' && { observing: true });
	}

	/**
	 * Takes the ranges of a batch into account, whatever the switches say.
	 * @param {Weights} data @param {BatchOptions} options
	 */
	observe(data, options) {
		const { calculator, constant = DEFAULT_CONSTANT, range } = this.#how;
		const measured = measure(this.#scheme, data, options);
		const batch = range ? withFixedEnds(measured, range) : measured;
		const keeps = calculator === 'moving_average' || calculator === 'global_minmax';
		if (keeps && this.#ranges && this.#ranges.lo.length !== batch.lo.length)
			throw new BlockQuantError(
				'bad-shape',
				`this batch has ${batch.lo.length} blocks, those before had ${this.#ranges.lo.length}`,
			);
		this.#ranges = merged(calculator, this.#ranges, batch, { dtype: measured.dtype, constant });
	}

	/**
	 * A batch through the fake quantizer: measured, then quantized and decoded, as far as each is turned on.
	 * @param {Weights} data
	 * @param {BatchOptions} options
	 * @returns {Float32Array}
	 */
	forward(data, options) {
		optionsOf(BATCH, options);
		const { observing, fakeQuantizing, exporting } = this.#switches;
		if (observing && !exporting) this.observe(data, options);
		if (!fakeQuantizing) return asFloats(data, options.dtype);
		return fakeQuantize(data, { ...options, scheme: this.#scheme, ranges: this.ranges });
	}
}

/** The values of weights, widened to float32. @param {Weights} given @param {'f32' | 'f16' | 'bf16'} [said] */
export function asFloats(given, said) {
	const data = plainWeights(given);
	const dtype = weightsDtype(data, said);
	return widened(weightBytes(data, 0, data.length, dtype), dtype);
}

/**
 * An observer of many batches, such as activations while a model runs: it gives the ranges for quantize().
 * @param {string | Scheme} scheme a preset's name or a scheme object
 * @param {ObserverOptions} [options]
 * @returns {Observer}
 * @throws {BlockQuantError} unknown-scheme, bad-scheme, bad-argument
 */
export const createObserver = (scheme, options) => new Observer(scheme, options);
