// gguf-hazards.test.js - GGUF files that cannot be right: each is refused in one line with the byte where it goes wrong.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { BlockQuantError } from '../../js/errors.js';
import { memorySink } from '../../js/io/sink.js';
import { typeNamed } from '../../js/gguf/types.js';
import { compareModels } from '../../js/model/compare.js';
import { openModel } from '../../js/model/open.js';
import { quantizeModel } from '../../js/model/quantize.js';
import { bytesOf, noise, weights } from './files-support.js';
import { gguf, info, join, joined, LLAMA, pair, str, u32, u64 } from './gguf-support.js';
import { ready } from './support.js';

before(() => ready());

const HUGE = 2n ** 63n;
/** A good tensor of 64 bytes. @param {object} [more] */
const tensor = (more = {}) => ({ name: 'x', dims: [16], type: 0, data: new Uint8Array(64), ...more });

/**
 * Must be refused, naming a byte.
 * @param {Uint8Array} bytes @param {RegExp} message @param {number} [offset]
 */
async function refused(bytes, message, offset) {
	const start = performance.now();
	await assert.rejects(openModel(new File([bytes], 'x.gguf')), (error) => {
		assert.ok(error instanceof BlockQuantError, `${error}`);
		assert.equal(error.code, 'bad-file');
		assert.match(error.message, message);
		assert.match(error.message, /^x\.gguf: [^\n]* \(at byte \d+\)$/);
		if (offset !== undefined) assert.equal(error.offset, offset);
		return true;
	});
	assert.ok(performance.now() - start < 1000);
}
/** A file that is only metadata. @param {Uint8Array} bytes of one pair @param {RegExp} message @param {number} [offset] */
const badPair = (bytes, message, offset) => refused(gguf({ pairs: [bytes] }), message, offset);
/** @param {object} more @param {RegExp} message */
const badTensor = (more, message) => refused(gguf({ tensors: [tensor(more)] }), message);

test('magic and version', async () => {
	await refused(new Uint8Array(0), /only 0 bytes: no GGUF file/);
	await refused(new TextEncoder().encode('GGUF'), /ends within the version/);
	await refused(new TextEncoder().encode('GGXF0000000000000000000'), /does not begin with "GGUF"/, 0);
	await refused(gguf({ version: 0 }), /version 0 does not exist/, 4);
	await refused(gguf({ version: 1 }), /version 1, which ggml does not read either/, 4);
	await refused(gguf({ version: 4 }), /version 4; this version reads 2 and 3/, 4);
	await refused(gguf({ version: 3 * 2 ** 24 }), /big-endian/, 4);
	await refused(gguf({ version: 2 * 2 ** 24 }), /big-endian/, 4);
	const pickle = new Uint8Array(64).fill(1);
	pickle.set([0x80, 2, 0x7d]);
	await assert.rejects(openModel(new File([pickle], 'x.gguf')), { code: 'unsupported', message: /pickle/ });
	const pointer = new File(['version https://git-lfs.github.com/spec/v1\noid'], 'x.gguf');
	await assert.rejects(openModel(pointer), { code: 'unsupported', message: /Git LFS/ });
});

test('counts, before anything is made of them', async () => {
	for (const count of [2n ** 53n, 2n ** 53n + 1n, HUGE, 2n ** 64n - 1n]) {
		const exact = new RegExp(`is ${count}, more than any file has`);
		await refused(gguf({ ntensors: count, tensors: [] }), exact, 8);
		await refused(gguf({ npairs: count }), exact, 16);
	}
	for (const ntensors of [2n ** 53n - 1n, 2 ** 40, 3]) {
		await refused(gguf({ ntensors, tensors: [] }), /tensors are announced, but the file has only/, 8);
	}
	for (const npairs of [2n ** 53n - 1n, 2 ** 40, 2]) {
		await refused(gguf({ npairs }), /metadata pairs are announced, but the file has only/, 16);
	}
	await refused(gguf({ npairs: 5, pairs: LLAMA.slice(0, 2) }), /ends within|is said to have|is empty/);
});

test('keys', async () => {
	await badPair(pair('', 'u8', 1), /a metadata key is empty/, 24);
	await badPair(
		join(u64(HUGE), u32(0), u32(0), [0]),
		/the length of a metadata key is 9223372036854775808, more than any file has/,
		24,
	);
	await badPair(pair('a\0b', 'u8', 1), /a metadata key contains a NUL byte/);
	await badPair(pair(new Uint8Array([97, 0xff]), 'u8', 1), /a metadata key is not UTF-8/);
	await refused(
		gguf({ pairs: [pair('a', 'u8', 1), pair('b', 'u8', 1), pair('a', 'str', 'x')] }),
		/"a" is there twice/,
		52,
	);
	await badPair(pair('a', 13, [0]), /the value of "a" has the unknown type 13/);
	await badPair(pair('a', 2 ** 32 - 1, [0]), /unknown type 4294967295/);
});

test('strings and arrays', async () => {
	await badPair(
		pair('a', 8, u64(2 ** 40)),
		/the value of "a" is said to have 1099511627776 bytes, but the file has only/,
	);
	await badPair(pair('a', 8, u64(2n ** 64n - 1n)), /the length of the value of "a" is 18446744073709551615, more/);
	const array = (type, count, rest = new Uint8Array(0)) => pair('a', 9, join(u32(type), u64(count), rest));
	await badPair(array(13, 0), /unknown type 13/);
	for (const type of [0, 5, 7, 8, 9, 12]) {
		for (const count of [2 ** 53 - 1, 2 ** 40, 100])
			await badPair(array(type, count), /is said to have \d+ elements of type/);
		for (const count of [HUGE, 2n ** 61n]) await badPair(array(type, count), new RegExp(`is ${count}, more`));
	}
	await badPair(array(8, 2, join(str('x'), u64(99))), /is said to have 99 bytes/);
	// More elements than anything needs: a value of them could not even be shown.
	await badPair(
		array(0, 2 ** 22 + 1, new Uint8Array(2 ** 22 + 1)),
		/has 4194305 elements; at most 4194304 are allowed/,
	);
	const wrong = pair('general.file_type', 9, join(u32(0), u64(2 ** 20), new Uint8Array(2 ** 20)));
	const { odd } = await openModel(new File([gguf({ pairs: [wrong], tensors: [tensor()] })], 'x.gguf'));
	assert.ok(odd.includes('general.file_type is of type u8[1048576], not u32'), odd.join('; ').slice(0, 300));
	let deep = join(u32(0), u64(0));
	for (let i = 0; i < 9; i++) deep = join(u32(9), u64(1), deep);
	await badPair(pair('a', 9, deep), /arrays lie more than 8 deep/);
	await refused(gguf({ pairs: [array(9, 4, noise(48, 1))] }), /unknown type/);
});

test('alignment: a u32, a power of two, and not without limit', async () => {
	const key = 'general.alignment';
	for (const type of ['i32', 'u64', 'u8', 'f32', 'bool']) await badPair(pair(key, type, 32), /must be a u32, not/);
	await badPair(pair(key, 'arr', { of: 'u32', items: [32] }), /must be a u32, not arr/);
	for (const value of [0, 3, 48, 2 ** 32 - 1]) await badPair(pair(key, 'u32', value), /it must be a power of two/);
	for (const value of [2 ** 21, 2 ** 31]) await badPair(pair(key, 'u32', value), /at most 1048576 is allowed/);
	for (const alignment of [1, 2, 4, 16, 1024]) {
		await openModel(gguf({ pairs: [pair(key, 'u32', alignment)], tensors: [tensor()], alignment }));
	}
});

test('tensor names and axes', async () => {
	await badTensor({ name: 'n'.repeat(64) }, /a tensor name has 64 bytes; at most 63/);
	await badTensor({ name: 'é'.repeat(32) }, /a tensor name has 64 bytes/);
	await badTensor({ name: 'a\0' }, /a tensor name contains a NUL/);
	await badTensor({ name: new Uint8Array([0xc3]) }, /a tensor name is not UTF-8/);
	await openModel(gguf({ tensors: [tensor({ name: 'n'.repeat(63) }), tensor({ name: '' })] }));
	await refused(gguf({ tensors: [tensor(), tensor()] }), /the tensor name "x" is there twice/);
	await badTensor({ dims: [16, 1, 1, 1, 1] }, /tensor "x": 5 axes; ggml has at most 4/);
	await badTensor({ dims: [2n ** 64n - 16n] }, /tensor "x": axis 0 is 18446744073709551600, more than any file has/);
	await badTensor({ dims: [16, HUGE] }, /tensor "x": axis 1 is 9223372036854775808, more/);
	for (const dims of [
		[2n ** 32n, 2n ** 32n],
		[3037000500n, 3037000500n],
		[2 ** 20, 2 ** 20, 2 ** 20, 2 ** 20],
		[2n ** 53n - 1n, 2],
	]) {
		await badTensor({ dims }, /the product of its axes [\d,]+ overflows/);
	}
	await badTensor({ dims: [2n ** 53n - 1n] }, /overflows/);
	await badTensor({ dims: [2 ** 40] }, /end \d+ bytes after the end of the file: is it truncated\?/);
	await refused(
		join(gguf({ ntensors: 1 }).subarray(0, 24), str('x'), u32(2 ** 31), noise(64, 1)),
		/2147483648 axes; ggml has at most 4/,
	);
});

test('tensor types and blocks', async () => {
	for (const type of [4, 5, 31, 32, 33, 36, 37, 38]) await badTensor({ type }, /was removed from ggml/);
	for (const type of [43, 255, 2 ** 31, 2 ** 32 - 1]) await badTensor({ type }, /unknown tensor type/);
	await badTensor({ type: 2 }, /rows of 16 values are no whole blocks of 32, as Q4_0 needs/);
	await badTensor({ type: 12, dims: [128, 2] }, /no whole blocks of 256, as Q4_K needs/);
	await badTensor({ type: 12, dims: [128, 0], data: new Uint8Array(0) }, /no whole blocks/);
});

test('offsets: exactly one after the other, inside the file', async () => {
	for (const offset of [1, 32, 2n ** 53n - 32n])
		await badTensor({ offset }, /are said to begin at .* and would leave a gap: 0 was expected/);
	await badTensor({ offset: 2n ** 64n - 32n }, /the offset is 18446744073709551584, more than any file has/);
	const two = (offset) => gguf({ tensors: [tensor(), tensor({ name: 'y', offset })] });
	await refused(two(0), /tensor "y": .* would overlap another tensor: 64 was expected/);
	await refused(two(32), /overlap/);
	await refused(two(96), /leave a gap/);
	const swapped = gguf({ tensors: [tensor({ offset: 64 }), tensor({ name: 'y', offset: 0 })] });
	await refused(swapped, /leave a gap/);
	const good = gguf({ tensors: [tensor(), tensor({ name: 'y' })] });
	for (const cut of [1, 63, 64, 65, 127, 128]) {
		await refused(
			good.subarray(0, good.length - cut),
			cut < 128 ? /is it truncated/ : /truncated|ends before its tensor data/,
		);
	}
	await refused(good.subarray(0, good.length - 130), /ends before its tensor data/);
	// Ollama's hole (CVE-2026-7482): more is declared than is there, and would be read and written into the output.
	await badTensor({ dims: [2 ** 20] }, /is it truncated/);
});

test('every cut of a file is refused', async () => {
	const good = gguf({
		pairs: [...LLAMA, pair('a', 'arr', { of: 'str', items: ['x', 'yy'] })],
		tensors: [tensor(), tensor({ name: 'y', type: 2, dims: [32], data: noise(18, 1) })],
	});
	for (let length = 0; length < good.length - 14; length++) await refused(good.subarray(0, length), /./);
});

test('a header that never ends is not read to its end', async () => {
	const zeros = { size: 2 ** 40, name: 'x.gguf' };
	const start = join(gguf({ npairs: 1, ntensors: 0 }).subarray(0, 24), str('a'), u32(8), u64(2 ** 39));
	let most = 0;
	const read = async (/** @type {number} */ at, /** @type {number} */ n) => {
		most = Math.max(most, at + n);
		const bytes = new Uint8Array(n);
		bytes.set(start.subarray(at, at + n));
		return bytes;
	};
	await assert.rejects(openModel({ ...zeros, read }), {
		code: 'bad-file',
		message: /the header would have more than/,
	});
	assert.ok(most <= 2 ** 20);
});

test('ten thousand mutated headers: success or a BlockQuantError, in less than a second each', async () => {
	const good = gguf({
		pairs: [
			...LLAMA,
			pair('general.alignment', 'u32', 32),
			pair('s', 'arr', { of: 'str', items: ['x', 'yy', ''] }),
			pair('n', 'arr', { of: 'arr', items: [{ of: 'i32', items: [1] }] }),
			pair('b', 'bool', 1),
			pair('split.count', 'u16', 0),
		],
		tensors: [
			{ name: 'blk.0.ffn_up.weight', dims: [256, 2], type: 0, data: bytesOf(weights(512, 1)) },
			{ name: 'e', dims: [0, 4], type: 1, data: new Uint8Array(0) },
			{ name: 'q', dims: [32, 2], type: 8, data: noise(68, 2) },
		],
	});
	const headerEnd = good.length - 2048 - 96;
	const random = noise(300_000, 7);
	let at = 0;
	const next = (/** @type {number} */ limit) =>
		((random[at++ % random.length] << 8) | random[at++ % random.length]) % limit;
	const values = [0n, 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 53n, 2n ** 61n, 2n ** 63n, 2n ** 64n - 1n];
	let [opened, written] = [0, 0];
	for (let round = 0; round < 10_000; round++) {
		let bytes = good.slice();
		for (let edit = 0; edit <= next(3); edit++) {
			const place = next(headerEnd);
			const kind = next(5);
			if (kind === 0) bytes[place] = next(256);
			else if (kind === 1) bytes[place] ^= 1 << next(8);
			else if (kind === 2) new DataView(bytes.buffer).setBigUint64(place, values[next(values.length)], true);
			else if (kind === 3) new DataView(bytes.buffer).setUint32(place, Number(values[next(4)]), true);
			else bytes = join(bytes.subarray(0, place), noise(next(3), round), bytes.subarray(place + next(4)));
		}
		const start = performance.now();
		try {
			const model = await openModel(bytes);
			opened++;
			JSON.stringify(model.metadata, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
			const sink = memorySink();
			await quantizeModel(model, sink, { scheme: 'q8_0', pure: true, nonfinite: 'allow', overflow: 'allow' });
			written++;
			await openModel(sink.bytes());
		} catch (error) {
			assert.ok(error instanceof BlockQuantError, `round ${round}: ${error}\n${error.stack}`);
		}
		assert.ok(performance.now() - start < 1000, `round ${round}`);
	}
	assert.ok(opened > 500 && opened < 9500 && written > 100, `${opened} opened, ${written} written`);
});

test('a hundred thousand tensors, a hundred thousand keys: in seconds', async () => {
	const count = 100_000;
	const infos = Array.from({ length: count }, (_, i) => info({ name: `t.${i}`, dims: [8], type: 0, offset: 32 * i }));
	const pairs = Array.from({ length: count }, (_, i) => pair(`k.${i}`, 'u32', i));
	const head = joined([gguf({ ntensors: count, npairs: count }).subarray(0, 24), ...pairs, ...infos]);
	const bytes = join(head, new Uint8Array(((32 - (head.length % 32)) % 32) + 32 * count));
	const start = performance.now();
	const model = await openModel(bytes);
	assert.deepEqual([model.tensors.length, Object.keys(model.metadata).length], [count, count]);
	assert.equal(model.metadata['k.99999'], 99_999);
	assert.ok(performance.now() - start < 10_000);
});

test('a tensor with an outer axis of 1, which a GGUF file does not keep, is compared with its own output', async () => {
	const { id: type } = typeNamed('F32');
	const tensors = [1, 4].map((rows) => ({
		name: rows === 1 ? 'cls.output.weight' : 'blk.0.attn_q.weight',
		dims: [256, rows],
		type,
		data: new Uint8Array(Float32Array.from({ length: 256 * rows }, (_, i) => Math.sin(i)).buffer),
	}));
	const model = await openModel(gguf({ pairs: LLAMA, tensors }));
	const sink = memorySink();
	await quantizeModel(model, sink, { scheme: 'q8_0', pure: true });
	const compared = await compareModels(model, await openModel(sink.bytes()));
	assert.deepEqual(compared.tensors.map(({ name }) => name).sort(), ['blk.0.attn_q.weight', 'cls.output.weight']);
});
