// wasm-streams.js - a wasm module as streams that deflate by a sixth better than the module does: indices of locals, and offsets
// of loads and stores, stand apart from all else, whose repetitions they would interrupt.
// SPDX-License-Identifier: MIT

/** @typedef {{ bytes: Uint8Array, at: number }} Stream */

/** Which stream something is in: their order. */
const REST = 0;
const LOCALS = 1;
const OFFSETS = 2;

const CODE_SECTION = 10;

/** Opcodes of what `end` closes, and of what one number follows: branches, calls, globals, pages, integers. */
const OPENS = [0x02, 0x03, 0x04];
const WITH_NUMBER = [...OPENS, 0x0c, 0x0d, 0x10, 0x23, 0x24, 0x3f, 0x40, 0x41, 0x42, 0xfc];

/** Copies a module from streams to streams. Either side is three, or three times the same one. What comes next follows from what was
 * read of REST alone: so the same walk goes there and back, and a module with opcodes that it does not know survives, too. */
class Walk {
	/** @param {Stream[]} from @param {Stream[]} to */
	constructor(from, to) {
		this.from = from;
		this.to = to;
	}

	/** 0 at the end. @param {number} which */
	byte(which) {
		const [from, to] = [this.from[which], this.to[which]];
		if (from.at === from.bytes.length) return 0;
		const byte = from.bytes[from.at++];
		to.bytes[to.at++] = byte;
		return byte;
	}

	more() {
		const { bytes, at } = this.from[REST];
		return at < bytes.length;
	}

	/** LEB128; what has more than 32 bits is only copied. @param {number} which */
	number(which) {
		let value = 0;
		for (let shift = 0; ; shift += 7) {
			const byte = this.byte(which);
			value |= (byte & 127) << shift;
			if (byte < 128) return value >>> 0;
		}
	}

	/** @param {number} count */
	skip(count) {
		for (let i = 0; i < count; i++) this.byte(REST);
	}

	address() {
		this.number(REST);
		this.number(OFFSETS);
	}

	simd() {
		const opcode = this.number(REST);
		const lane = opcode >= 84 && opcode <= 91;
		if (opcode <= 11 || lane || opcode === 92 || opcode === 93) this.address();
		if (opcode === 12 || opcode === 13) this.skip(16);
		if (lane || (opcode >= 21 && opcode <= 34)) this.skip(1);
	}

	/** Returns the opcode. */
	instruction() {
		const opcode = this.byte(REST);
		if (opcode >= 0x20 && opcode <= 0x22) this.number(LOCALS);
		else if (opcode >= 0x28 && opcode <= 0x3e) this.address();
		else if (opcode === 0xfd) this.simd();
		else if (WITH_NUMBER.includes(opcode)) this.number(REST);
		else if (opcode === 0x43 || opcode === 0x44) this.skip(opcode === 0x43 ? 4 : 8);
		else if (opcode === 0x0e) for (let left = this.number(REST) + 1; left > 0; left--) this.number(REST);
		else if (opcode === 0x11) for (let left = 2; left > 0; left--) this.number(REST);
		return opcode;
	}

	body() {
		this.number(REST);
		for (let groups = this.number(REST); groups > 0; groups--) {
			this.number(REST);
			this.byte(REST);
		}
		for (let depth = 1; depth > 0 && this.more(); ) {
			const opcode = this.instruction();
			depth += OPENS.includes(opcode) ? 1 : opcode === 0x0b ? -1 : 0;
		}
	}

	module() {
		this.skip(8);
		while (this.more()) {
			const section = this.byte(REST);
			const nbytes = this.number(REST);
			if (section !== CODE_SECTION) this.skip(nbytes);
			else for (let left = this.number(REST); left > 0; left--) this.body();
		}
	}
}

/** @param {Uint8Array} bytes @returns {Stream} */
const streamOf = (bytes) => ({ bytes, at: 0 });

/** @param {Uint8Array} module @returns {Uint8Array} the lengths of the first two streams, and all three */
export function splitWasm(module) {
	const whole = streamOf(module);
	const parts = [REST, LOCALS, OFFSETS].map(() => streamOf(new Uint8Array(module.length)));
	new Walk([whole, whole, whole], parts).module();
	const streams = new Uint8Array(8 + module.length);
	const view = new DataView(streams.buffer);
	let at = 8;
	parts.forEach((part, i) => {
		if (i < 2) view.setUint32(4 * i, part.at, true);
		streams.set(part.bytes.subarray(0, part.at), at);
		at += part.at;
	});
	return streams;
}

/** The way back. @param {Uint8Array} streams @returns {Uint8Array<ArrayBuffer>} */
export function joinWasm(streams) {
	const view = new DataView(streams.buffer, streams.byteOffset);
	const [rest, locals] = [view.getUint32(0, true), view.getUint32(4, true)];
	const ends = [8, 8 + rest, 8 + rest + locals, streams.length];
	const parts = [REST, LOCALS, OFFSETS].map((i) => streamOf(streams.subarray(ends[i], ends[i + 1])));
	const module = new Uint8Array(streams.length - 8);
	const whole = streamOf(module);
	new Walk(parts, [whole, whole, whole]).module();
	return module;
}
