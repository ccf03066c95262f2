// torch-dtypes.js - dtypes as torch names them, which is how compressed-tensors' JSON says them.
// SPDX-License-Identifier: MIT

import { quoted, shown } from '../errors.js';
import { didYouMean } from '../nearest.js';

/** Of torch 2.15, without the prefix. */
const NAMES = [
	'float16 float32 float64 bfloat16 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn_x2',
	'int1 int2 int3 int4 int5 int6 int7 int8 int16 int32 int64 uint1 uint2 uint3 uint4 uint5 uint6 uint7 uint8 uint16 uint32 uint64',
	'bool bcomplex32 complex32 complex64 complex128 bits16 bits1x8 bits2x4 bits4x2 bits8 qint32 qint8 quint2x4 quint4x2 quint8',
].flatMap((line) => line.split(' '));

/** Other names of the same. @type {Record<string, string>} */
const ALIASES = {
	bit: 'uint1',
	half: 'float16',
	float: 'float32',
	double: 'float64',
	short: 'int16',
	int: 'int32',
	long: 'int64',
	chalf: 'complex32',
	cfloat: 'complex64',
	cdouble: 'complex128',
};

const PREFIX = 'torch.';

/**
 * A dtype's name, with or without `torch.`, as torch prints it.
 * @type {import('../problems.js').Reader<string>}
 */
export function torchDtype(value, at) {
	if (typeof value !== 'string') return at.fail(`expected the name of a torch dtype, got ${shown(value)}`);
	const bare = value.startsWith(PREFIX) ? value.slice(PREFIX.length) : value;
	const name = Object.hasOwn(ALIASES, bare) ? ALIASES[bare] : bare;
	return NAMES.includes(name)
		? PREFIX + name
		: at.fail(`torch has no dtype ${quoted(bare)}${didYouMean(bare, [...NAMES, ...Object.keys(ALIASES)])}`);
}
