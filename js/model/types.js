// types.js - the shapes of the objects that the files of js/model and the containers hand to one another.
// SPDX-License-Identifier: MIT

/** @typedef {import('../io/source.js').Source} Source */
/** @typedef {import('../scheme.js').Scheme} Scheme */

/**
 * A file of a model. Its header is its container's own.
 * @typedef {object} ModelFile
 * @property {string} name
 * @property {Source} source
 * @property {any} header
 */

/**
 * @typedef {object} ModelTensor
 * @property {string} name
 * @property {string} dtype as the file says it, e.g. BF16 or Q4_K
 * @property {number[]} shape row-major: the row length last
 * @property {number} nbytes
 * @property {string} file name of the file that it is in
 * @property {(offset: number, length: number) => Promise<Uint8Array>} read bytes of this tensor
 */

/**
 * A tensor's values as floats of a dtype in WEIGHT_DTYPES. They may be stored as something else, which is made into them where
 * they are needed: `read` gives what is stored of them then.
 * @typedef {ModelTensor & { first?: (nvalues: number) => import('../arrays/task.js').DecodeTask }} FloatTensor first: the task that
 *   makes so many values out of what was read; none: they are what was read
 */

/**
 * A model, whatever files it came in.
 * @typedef {object} Model
 * @property {import('../containers.js').Format} format
 * @property {string} name of a file that holds all of it
 * @property {Record<string, any>} metadata of all files together
 * @property {Record<string, string>} metadataTypes of the values, in the container's words
 * @property {ModelTensor[]} tensors in the files' order
 * @property {ModelFile[]} files
 * @property {({ name: string } & Record<string, any>) | null} index of a model that is written as several files
 * @property {string[]} warnings
 * @property {string[]} odd what is unusual about the files, although they can be read
 */

/**
 * A tensor to write.
 * @typedef {object} OutputTensor
 * @property {string} name
 * @property {string} dtype
 * @property {number[]} shape
 * @property {number} nbytes
 */

/**
 * What happens to one tensor: the tensors that stand in its place, and how their bytes are made.
 * @typedef {object} Step
 * @property {OutputTensor[]} outputs
 * @property {(write: StepWriter, run: import('../workers/order.js').Run) => Promise<void>} run writes each output byte once, in any
 *   order
 */

/**
 * @callback StepWriter
 * @param {number} output index into the step's outputs
 * @param {Uint8Array} bytes
 * @param {number} offset in that output
 * @returns {Promise<void>}
 */

/**
 * A file to write.
 * @typedef {object} OutputFile
 * @property {string} name
 * @property {Uint8Array} header the bytes before the data
 * @property {{ tensor: ModelTensor, step: Step, offsets: number[] }[]} parts offsets: in the file, of each of the step's outputs
 * @property {{ offset: number, nbytes: number }[]} padding zeros between the tensors
 * @property {number} nbytes of the whole file
 */

/**
 * What becomes of a selected tensor: a scheme or a plain dtype for its values, or nothing.
 * @typedef {{ scheme?: undefined, dtype: string, why?: string } | SchemeChoice | { keep: string, done?: boolean }} Choice
 *   why: not what was asked for; done: it is that already
 */

/**
 * @typedef {object} SchemeChoice
 * @property {Scheme} scheme
 * @property {string} [type] the container's name of what the scheme makes
 * @property {string} [why]
 * @property {Float32Array} [importance] of its columns
 * @property {string[]} [warnings]
 */

/**
 * @typedef {object} TargetOptions
 * @property {string | Scheme} scheme
 * @property {boolean} [pure] every tensor gets the scheme's own type, without a recipe
 * @property {boolean} [allowRequantize] of tensors that are quantized already
 * @property {import('../imatrix/imatrix.js').Imatrix} [imatrix] how much each column of each tensor matters
 * @property {'error' | 'ones'} [missingImportance] a type that is of no use without importance, and none for the tensor: refuse,
 *   or let all columns weigh the same
 */

/**
 * What a scheme means for a model in its container.
 * @typedef {object} Target
 * @property {string} name
 * @property {Scheme | null} scheme null: plain numbers
 * @property {boolean} mayCopy nothing to quantize is no error
 * @property {(tensor: ModelTensor) => Choice} choose
 * @property {(tensor: ModelTensor, planes: OutputTensor[], type: string) => OutputTensor[]} outputs the planes under their
 *   full names; type: what `choose` said
 * @property {any} stamp what the layout must say of it
 */

/**
 * Which tensors are quantized where the user says nothing.
 * @typedef {object} SelectRules
 * @property {(tensor: ModelTensor) => string | null} refusal why no scheme can take it
 * @property {(tensors: ModelTensor[]) => (tensor: ModelTensor) => string | null} keeper why it is left alone
 * @property {string} reason why the others are quantized
 */

export {};
