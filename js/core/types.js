// types.js - what goes into the core's calls and comes out of them, as objects.
// SPDX-License-Identifier: MIT

/** @typedef {Uint8Array & { readonly plan: unique symbol }} PlanBytes a struct bq_plan */
/** @typedef {{ rule: string, field: string }} Broken a rule of docs/schemes.md, and the field of the scheme that breaks it */

/**
 * @typedef {object} BandStruct a struct bq_band
 * @property {number} first_step
 * @property {number} nsteps
 * @property {number} value_offset
 * @property {number} nvalues
 * @property {number[]} cell_offset of each level
 * @property {number[]} ncells of each level
 * @property {number[]} plane_offset
 * @property {number[]} plane_nbytes
 */

/**
 * What a call needs to know of a plan without reading its struct; fused: which kernel its tables are for.
 * @typedef {{ nplanes: number, workspace_nbytes: number, tables_nbytes: number, fused: number }} Sizes
 */

/**
 * What is given with the weights of a band.
 * @typedef {object} Given
 * @property {Float32Array} [importance] nimportance rows, one number a column
 * @property {number} [nimportance]
 * @property {Float32Array} [lo] ranges of the innermost blocks of the band, to use instead of measuring
 * @property {Float32Array} [hi]
 * @property {boolean} [correct]
 */

export {};
