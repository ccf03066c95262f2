// patterns.test.js - regular expressions as Python reads them, decided in time whatever they are.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Pattern } from '../../js/patterns.js';
import { goldenFolders, random } from './support.js';

const NAMES = [
	'model.layers.0.mlp.experts.12.down_proj',
	'model.layers.10.self_attn.q_proj',
	'MODEL.LAYERS.3.mlp.gate',
	'layers\n.mlp\n',
	'lm_head',
	'layers.1',
	'up_proj',
	'aaaaab',
	'x]a',
	'a{x}',
	'',
];

test('patterns that both languages spell alike mean what they mean to JavaScript', () => {
	for (const source of [
		'(layers)\\.(0|10)\\..*_proj',
		'.*(q|k|down)_proj',
		'.*_proj.{2}',
		'ayers',
		'[^\\]]+',
		'(?:a|ab)*b',
		'(a|ab)(c|bcd)*',
		'a{2,}?b',
		'a{3}',
		'(a{1,2}){2}b',
		'((a?)*)*b',
		'(a+)+$',
		'a{x}',
		'{',
		'a||b',
		'',
		'^model|^up',
		'.*l$',
		'.*\\bmlp\\b',
		'.*\\Brs',
		'(?!.*mlp).*proj',
		'(?=.*self)model',
		'.*(?<=down)_proj',
		'.*(?<!down)_proj',
		'(?<part>layers)',
		'\\x6d\\u006f[\\w.]+',
		'\\w+\\d*[^\\s\\S]?',
	]) {
		const pattern = new Pattern(source);
		// Names that end lines are for the test below: there `.` and `$` differ.
		for (const name of NAMES.filter((each) => !each.includes('\n'))) {
			const where = `${source} in ${name}`;
			assert.equal(pattern.begins(name), new RegExp(`(?:${source})`, 'y').test(name), where);
			assert.equal(pattern.covers(name), new RegExp(`^(?:${source})$`).test(name), where);
			assert.equal(pattern.test(name), new RegExp(source).test(name), where);
		}
	}
});

/** A pattern that was made up; looking: inside of what looks around. */
function madeUp(r, depth, looking = false) {
	const one = () => ['a', 'b', '.', '[ab]', '[^a]', '\\w'][r.below(6)];
	const inside = (more = looking) => (depth ? madeUp(r, depth - 1, more) : one());
	const piece = () => {
		const kind = r.below(looking ? 9 : 11);
		if (kind > 8) return `(?${['=', '!', '<=', '<!'][r.below(4)]}${inside(true)})`;
		const part = kind < 5 ? one() : `(${inside()})`;
		return part + ['', '', '*', '+', '?', '{2}', '{1,2}', '{0,1}?', '*?'][r.below(9)];
	};
	const sequence = () => Array.from({ length: 1 + r.below(3) }, piece).join('');
	const edges = r.below(6);
	const all = Array.from({ length: 1 + r.below(2) }, sequence).join('|');
	return edges === 0 ? `^${all}` : edges === 1 ? `${all}$` : edges === 2 ? `\\b${all}` : all;
}

test('thousands of patterns that were made up, against a matcher that backtracks', () => {
	const r = random(11);
	const names = ['', 'a', 'b', 'ab', 'ba', 'aab', 'abab', 'bbaa', 'a.b', 'b-ab'];
	let found = 0;
	for (let i = 0; i < 3000; i++) {
		const source = madeUp(r, 2);
		const pattern = new Pattern(source);
		const [start, whole, any] = [
			new RegExp(`(?:${source})`, 'y'),
			new RegExp(`^(?:${source})$`),
			new RegExp(source),
		];
		for (const name of names) {
			start.lastIndex = 0;
			const expected = [start.test(name), whole.test(name), any.test(name)];
			assert.deepEqual(
				[pattern.begins(name), pattern.covers(name), pattern.test(name)],
				expected,
				`${source} in ${name}`,
			);
			found += Number(expected[0]);
		}
	}
	assert.ok(found > 6000 && found < 24_000, `${found} of 30000 match`);
});

test("Python's own spellings", () => {
	for (const source of [
		'[\\d-]',
		'[-\\d]',
		'[a\\-\\d]',
		'[\\b]',
		'\\_',
		'\\-',
		'\\07',
		'[]a]',
		'[^]a]',
		'[\\]]',
		'[+--]',
	])
		assert.ok(new Pattern(source), source);
	for (const [source, text, expected] of [
		['(?P<part>layers)\\.1', 'layers.1', true],
		['(?i)LAYERS.1', 'layers.1', true],
		['(?is)LAYERS.\\.mlp', 'layers\n.mlp', true],
		['layers.\\.mlp', 'layers\n.mlp', false],
		['layers$', 'layers\n', true],
		['layers\\Z', 'layers\n', false],
		['(?m)layers$', 'layers\n.mlp', true],
		['(?m).*\\n^\\.mlp\\Z', 'layers\n.mlp', true],
		['\\Alayers', 'layers', true],
		['la(?#not the end)yers', 'layers', true],
		['[]x]+a', 'x]a', true],
		['[^]x]', ']', false],
		['a{,5}b', 'aaaaab', true],
		['a{,4}b', 'aaaaab', false],
		['\\a', '\x07', true],
	])
		assert.equal(new Pattern(source).begins(text), expected, source);
});

test('what cannot be read is told', () => {
	for (const source of [
		'(',
		')',
		'a)(b',
		'[',
		'[b-a]',
		'\\',
		'*',
		'a**',
		'^*',
		'(?#x)*',
		'a{3,2}',
		'(?>a)',
		'(?<x',
		// Of these JavaScript makes something.
		'\\p{L}',
		'[^]',
		'[]',
		'[a-\\d]',
		'[\\d-z]',
		'\\z',
		'\\e',
		'\\x4',
		'\\u12',
		'[\\A]',
		'[\\q]',
		'\\cA',
		'[\\B]',
		'[\\Z]',
	])
		assert.throws(
			() => new Pattern(source),
			{ code: 'bad-scheme', message: /^pattern ".*" cannot be read: / },
			source,
		);
	for (const [source, reason] of [
		['(a)\\1', /\\1 looks back/],
		['(?=(?!a))', /\(\?! inside of what looks around/],
		['((a{99}){99}){99}', /repeats too much/],
		['('.repeat(9_999), /cannot be read/],
		['['.repeat(10_001), /more than 10000 characters/],
	])
		assert.throws(() => new Pattern(source), { code: 'bad-scheme', message: reason });
});

test('no pattern takes long', () => {
	const text = `${'a'.repeat(5000)}!`;
	const start = performance.now();
	for (const source of [
		'(a+)+$',
		'(a*)*$',
		'(((a*)*)*)*$',
		'(a|a)*$',
		'(a|aa)+$',
		'(.*a){25}$',
		`${'a?'.repeat(60)}${'a'.repeat(60)}$`,
		`${'(a|a)'.repeat(60)}$`,
		`${'.*'.repeat(30)}b`,
		'(\\w+\\.?)+$',
		'(?!(a+)+$)b',
		'(?:(?=a+b)a)*b',
		'(?<=(a+)+b)!',
	])
		assert.equal(new Pattern(source).begins(text), false, source);
	assert.ok(performance.now() - start < 20_000);
});

/** Every text in some JSON, keys too. */
function* texts(json) {
	if (typeof json === 'string') yield json;
	else if (json && typeof json === 'object')
		for (const [key, value] of Object.entries(json)) {
			yield key;
			yield* texts(value);
		}
}

test('every pattern of the golden configs is read', () => {
	const sources = new Set();
	for (const folder of goldenFolders) {
		for (const name of readdirSync(folder, { recursive: true }).filter((each) => each.endsWith('.json')))
			for (const text of texts(JSON.parse(readFileSync(join(folder, name), 'utf8'))))
				if (text.startsWith('re:')) sources.add(text.slice(3));
	}
	assert.ok(sources.size > 20);
	for (const source of sources) {
		const pattern = new Pattern(source);
		for (const name of NAMES) assert.equal(typeof pattern.begins(name), 'boolean');
	}
});
