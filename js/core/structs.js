// structs.js - C structs described once: where each field lies follows from C's rules of alignment.
// SPDX-License-Identifier: MIT

/**
 * @typedef {'u8' | 'u32' | 'u64' | 'f32' | 'f64'} Scalar
 * @typedef {{ size: number, align: number, read(view: DataView, at: number): any, write(view: DataView, at: number, value: any): void }} Type
 */

/** @type {Record<Scalar, Type>} */
const scalars = {
	u8: {
		size: 1,
		align: 1,
		read: (view, at) => view.getUint8(at),
		write: (view, at, value) => view.setUint8(at, value ?? 0),
	},
	u32: {
		size: 4,
		align: 4,
		read: (view, at) => view.getUint32(at, true),
		write: (view, at, value) => view.setUint32(at, value ?? 0, true),
	},
	f32: {
		size: 4,
		align: 4,
		read: (view, at) => view.getFloat32(at, true),
		write: (view, at, value) => view.setFloat32(at, value ?? 0, true),
	},
	f64: {
		size: 8,
		align: 8,
		read: (view, at) => view.getFloat64(at, true),
		write: (view, at, value) => view.setFloat64(at, value ?? 0, true),
	},
	// Sizes and offsets: the core refuses shapes of more than 2^53 values, so a number holds them.
	u64: {
		size: 8,
		align: 8,
		read: (view, at) => view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32,
		write(view, at, value = 0) {
			view.setUint32(at, value % 2 ** 32, true);
			view.setUint32(at + 4, Math.floor(value / 2 ** 32), true);
		},
	},
};

/** @param {Scalar | Type} type */
const resolve = (type) => (typeof type === 'string' ? scalars[type] : type);

/**
 * @param {Scalar | Type} of
 * @param {number} count
 * @returns {Type}
 */
export function arrayOf(of, count) {
	const type = resolve(of);
	return {
		size: type.size * count,
		align: type.align,
		read: (view, at) => Array.from({ length: count }, (_, i) => type.read(view, at + i * type.size)),
		write(view, at, values = []) {
			for (let i = 0; i < count; i++) type.write(view, at + i * type.size, values[i]);
		},
	};
}

/**
 * A struct of fields in C's order. A field that a written object lacks becomes 0.
 * @param {Record<string, Scalar | Type>} fields
 * @returns {Type & { offsets: Record<string, number> }}
 */
export function struct(fields) {
	/** @type {{ name: string, type: Type, at: number }[]} */
	const placed = [];
	let size = 0;
	let align = 1;
	for (const [name, of] of Object.entries(fields)) {
		const type = resolve(of);
		size = Math.ceil(size / type.align) * type.align;
		placed.push({ name, type, at: size });
		size += type.size;
		align = Math.max(align, type.align);
	}
	return {
		size: Math.ceil(size / align) * align,
		align,
		offsets: Object.fromEntries(placed.map(({ name, at }) => [name, at])),
		read: (view, at) =>
			Object.fromEntries(placed.map((field) => [field.name, field.type.read(view, at + field.at)])),
		write(view, at, value = {}) {
			for (const field of placed) field.type.write(view, at + field.at, value[field.name]);
		},
	};
}
