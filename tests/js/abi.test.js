// abi.test.js - js/core/abi.js describes the structs and enums of include/blockquant.h.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as abi from '../../js/core/abi.js';
import { root } from './support.js';

const structs = {
	bq_level: abi.Level,
	bq_scheme: abi.Scheme,
	bq_plane: abi.Plane,
	bq_plan: abi.Plan,
	bq_band: abi.Band,
	bq_problem: abi.Problem,
	bq_tensor_range: abi.TensorRange,
	bq_report: abi.Report,
};

const programs = {
	native: [join(root, 'build/native/test_abi')],
	wasm: [
		process.execPath,
		'--no-warnings',
		join(root, 'tests/c/run_wasi.mjs'),
		join(root, 'build/wasm/test_abi.wasm'),
	],
};

for (const [build, [command, ...args]] of Object.entries(programs)) {
	const lines = () =>
		execFileSync(command, args, { encoding: 'utf8' })
			.trim()
			.split('\n')
			.map((line) => JSON.parse(line));

	test(`${build}: every struct has its fields where abi.js writes them`, () => {
		const said = lines().filter((line) => line.struct);
		assert.deepEqual(said.map((line) => line.struct).sort(), Object.keys(structs).sort());
		for (const { struct, size, offsets } of said) {
			assert.deepEqual(structs[struct].offsets, offsets, struct);
			assert.equal(structs[struct].size, size, struct);
		}
	});

	test(`${build}: dtypes have the widths that their names say`, () => {
		for (const { dtype, kind, bits, nbytes } of lines().filter((line) => line.dtype !== undefined)) {
			const name = abi.DTYPES[dtype];
			const integer = /^([iu])([1-8])$/.exec(name);
			if (integer) assert.deepEqual([kind, bits], [integer[1] === 'i' ? 3 : 4, Number(integer[2])], name);
			if (name !== 'none' && name !== 'input') assert.equal(nbytes, abi.NBYTES[name], name);
		}
	});

	test(`${build}: enums are as long as the lists of their names`, () => {
		const { counts } = lines().find((line) => line.counts);
		const { DTYPES, RULES, LAYOUTS, KERNELS, STATUSES, FIELDS, ROLES, MAX_LEVELS, MAX_RANK, MAX_PLANES } = abi;
		assert.deepEqual(counts, {
			...{ dtypes: DTYPES.length, rules: RULES.length, layouts: LAYOUTS.length, kernels: KERNELS.length },
			...{
				statuses: STATUSES.length,
				roles: ROLES.length,
				levels: MAX_LEVELS,
				rank: MAX_RANK,
				planes: MAX_PLANES,
				fields: FIELDS.length,
				problems: abi.MAX_PROBLEMS,
			},
		});
	});
}

/** The names of an enum in the header, without their prefix, in its order. */
function enumNames(name, prefix) {
	const header = readFileSync(join(root, 'include/blockquant.h'), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
	const body = new RegExp(`enum ${name} \\{([^}]*)\\}`).exec(header)[1];
	return body
		.split(',')
		.map((word) => word.trim())
		.filter((word) => word && !/^BQ_N[A-Z]+S?$/.test(word.replace('BQ_NONE', 'BQ_none')))
		.map((word) => word.replace(prefix, '').toLowerCase());
}

test('the names of enums are those of the header, in its order', () => {
	const plain = (names) => names.map((name) => name.replace(/[-.]/g, '_'));
	assert.deepEqual(enumNames('bq_dtype', 'BQ_'), abi.DTYPES);
	assert.deepEqual(enumNames('bq_rules_id', 'BQ_RULES_'), plain(abi.RULES));
	assert.deepEqual(enumNames('bq_layout_id', 'BQ_LAYOUT_'), plain(abi.LAYOUTS));
	assert.deepEqual(enumNames('bq_kernels_id', 'BQ_'), abi.KERNELS);
	assert.deepEqual(enumNames('bq_calibration', 'BQ_'), abi.CALIBRATIONS);
	assert.deepEqual(enumNames('bq_activation', 'BQ_ACT_'), abi.ACTIVATIONS);
	assert.deepEqual(enumNames('bq_status', 'BQ_'), plain(abi.STATUSES));
});
