// errors.js - the one class of error that BlockQuant throws, and its documented codes.
// SPDX-License-Identifier: MIT

/**
 * What went wrong, as a word that a program can test.
 *
 * | code | meaning |
 * |---|---|
 * | `bad-argument` | an option or argument that is of the wrong kind or contradicts another |
 * | `unknown-scheme` | no preset of that name (the message suggests the nearest) |
 * | `bad-scheme` | a scheme object that breaks a rule of docs/schemes.md |
 * | `bad-shape` | a shape that the scheme cannot cover, or that does not fit the data |
 * | `nonfinite` | NaN or Inf among the weights |
 * | `overflow` | a scale that its dtype cannot hold, or importance that a search cannot weigh |
 * | `bad-file` | bytes that are no valid file of their format; nothing was written |
 * | `unsupported` | valid, but not something this version or this container can carry |
 * | `needs-importance` | a type that is of no use without an importance matrix, and none was given for the tensor |
 * | `nothing-to-do` | no tensor of the model is selected, or two models have none in common |
 * | `name-clash` | an output tensor would take the name of another tensor |
 * | `same-file` | an output is an input or another output, perhaps through a link |
 * | `io` | the operating system or browser refused to read or write, or a file ended early |
 * | `cancelled` | the caller's AbortSignal fired |
 * | `worker-failed` | a worker did not start, or ended before its work was done |
 * | `not-initialized` | an array function was called before `await init()` |
 * | `out-of-memory` | the engine gives no more memory to the wasm module |
 * | `internal` | a state that should not exist: please report it |
 *
 * @typedef {'bad-argument' | 'unknown-scheme' | 'bad-scheme' | 'bad-shape' | 'nonfinite' | 'overflow'
 *   | 'bad-file' | 'unsupported' | 'needs-importance' | 'nothing-to-do' | 'name-clash' | 'same-file' | 'io' | 'cancelled'
 *   | 'worker-failed' | 'not-initialized' | 'out-of-memory' | 'internal'} ErrorCode
 */

/**
 * @typedef {object} ErrorPlace
 * @property {string} [file] name of the file
 * @property {string} [tensor] name of the tensor
 * @property {number} [offset] byte offset in the file
 * @property {string} [option] that would let it through
 * @property {unknown} [cause] the error below this one
 */

/** Longest part of a name from a file that a message repeats. */
const MAX_QUOTED = 200;

/**
 * A name as it may stand in a one-line message: quoted, control characters escaped, cut if long.
 * @param {string} name
 */
export function quoted(name) {
	return JSON.stringify(name.length > MAX_QUOTED ? `${name.slice(0, MAX_QUOTED)}...` : name);
}

/**
 * Any value as it may stand in a one-line message. Never throws, whatever it is given.
 * @param {unknown} value
 * @returns {string}
 */
export function shown(value) {
	try {
		if (typeof value === 'string') return quoted(value);
		if (typeof value === 'bigint') return `${value}n`;
		if (typeof value === 'function') return 'a function';
		if (typeof value !== 'object' || value === null) return quoted(String(value)).slice(1, -1);
		if (value instanceof RegExp || value instanceof Error) return quoted(String(value)).slice(1, -1);
		// Not what they hold: it may be a whole model.
		const plain = Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value));
		if (!plain) return quoted(`[object ${value.constructor.name}]`).slice(1, -1);
		const json = JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? `${item}n` : item));
		return json.length > MAX_QUOTED ? `${json.slice(0, MAX_QUOTED)}...` : json;
	} catch {
		return `a value of type ${typeof value}`;
	}
}

export class BlockQuantError extends Error {
	/**
	 * @param {ErrorCode} code
	 * @param {string} message what happened and what was expected; the place is added in front
	 * @param {ErrorPlace} [place]
	 */
	constructor(code, message, place = {}) {
		const { file, tensor, offset, option, cause } = place;
		const where = [
			file === undefined ? '' : `${file}: `,
			tensor === undefined ? '' : `tensor ${quoted(tensor)}: `,
		].join('');
		const at = offset === undefined ? '' : ` (at byte ${offset})`;
		super(`${where}${message}${at}`, cause === undefined ? undefined : { cause });
		this.name = 'BlockQuantError';
		this.code = code;
		/** The message without its place. */
		this.detail = message;
		this.file = file;
		this.tensor = tensor;
		this.offset = offset;
		/** The function's option that would let it through. */
		this.option = option;
	}

	/**
	 * The same error, with the tensor's name added if it has none yet.
	 * @param {string} tensor
	 */
	withTensor(tensor) {
		return this.#placed({ tensor: this.tensor ?? tensor });
	}

	/**
	 * The same error, with the file's name added if it has none yet.
	 * @param {string | undefined} file
	 */
	withFile(file) {
		return this.#placed({ file: this.file ?? file });
	}

	/** @param {ErrorPlace} more */
	#placed(more) {
		const { file, tensor, offset, option, cause } = this;
		const moved = new BlockQuantError(this.code, this.detail, {
			file,
			tensor,
			offset,
			option,
			cause,
			...more,
		});
		moved.stack = this.stack?.replace(this.message, () => moved.message);
		return moved;
	}
}

/**
 * The message of anything that was thrown.
 * @param {unknown} error
 */
export function messageOf(error) {
	return error instanceof Error ? error.message : typeof error === 'string' ? error : shown(error);
}
