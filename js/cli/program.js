// program.js - the commands, their arguments and their help.
// SPDX-License-Identifier: MIT

import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { MAX_WORKERS } from '../model/options.js';
import { Pattern } from '../patterns.js';
import { compareCommand } from './compare.js';
import { dequantizeCommand } from './dequantize.js';
import { inspectCommand } from './inspect.js';
import { quantizeCommand } from './quantize.js';
import { sampleCommand } from './sample.js';
import { schemesCommand } from './schemes.js';

/** The package by its own name: the same from dist/ and from the sources. @type {{ version: string }} */
const { version } = createRequire(import.meta.url)('blockquant/package.json');

const JSON_HELP = 'one JSON document on stdout';

/** --workers, for commands that compute. The result does not depend on it. */
const workersOption = () =>
	new Option('--workers <n>', 'threads to compute with')
		.argParser(integerFrom(1, MAX_WORKERS))
		.default(availableParallelism(), 'as many as there are cores');

/**
 * A model's path. Its parts are read and written in any order, so no pipe can take its place.
 * @param {string} flags
 * @param {string} description
 */
const pathArgument = (flags, description) => new Argument(flags, description).argParser(notAPipe);

/** @param {string} path */
function notAPipe(path) {
	if (path !== '-') return path;
	throw new InvalidArgumentError('Files are not read from or written to a pipe: name a file (./- is one, too).');
}

/** @param {number} min @param {number} max */
function integerFrom(min, max) {
	/** @param {string} text */
	return (text) => {
		const value = Number(text);
		if (!/^\d+$/.test(text) || value < min || value > max)
			throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
		return value;
	};
}

/** @param {string} text @param {string[]} [before] */
function pattern(text, before = []) {
	try {
		return [...before, new Pattern(text).source];
	} catch (error) {
		throw new InvalidArgumentError(/** @type {Error} */ (error).message);
	}
}

/** Options of `quantize` that are to come with the recipes of GGUF files. */
const LATER_OPTIONS = ['--tensor-type [re=type]'];

/** @param {Command} command */
function refuseLaterOptions(command) {
	for (const flags of LATER_OPTIONS) {
		const option = new Option(flags).hideHelp();
		command.addOption(option);
		command.on(`option:${option.name()}`, () =>
			command.error(
				`error: option '--${option.name()}' is not in this version yet: GGUF files need --pure for now`,
			),
		);
	}
}

/** @param {Command} root */
function addQuantize(root) {
	const command = root
		.command('quantize')
		.summary('quantize the weights of a model: safetensors or GGUF')
		.description(
			'Quantizes the linear layers of a model. Everything else is copied byte for byte. A config.json beside a safetensors model is ' +
				'written beside the output, with its quantization_config. A GGUF model becomes the file that llama-quantize writes. ' +
				'The output appears when it is complete, or not at all.',
		)
		.addArgument(
			pathArgument(
				'<in>',
				'a .safetensors file, a .safetensors.index.json, a .gguf file (any shard of a split one), or a directory that holds one of these',
			),
		)
		.addArgument(
			pathArgument('[out]', 'a file; a directory for a model of several files; not needed with --dry-run'),
		)
		.addHelpText('after', '\nPatterns are regular expressions as Python has them, searched anywhere in a name.')
		.requiredOption(
			'--scheme <name|file.json>',
			"a name (`blockquant schemes` lists them; for GGUF: Q4_K_M, Q8_0, F16, COPY ...), or the JSON file of a scheme: ours, compressed-tensors, Burn's or Core AI's",
		)
		.option('--include <re>', 'quantize tensors whose name matches, too (repeat for more)', pattern)
		.option('--exclude <re>', 'keep tensors whose name matches (repeat for more)', pattern)
		.addOption(
			new Option('--nonfinite <policy>', 'NaN and infinite weights').choices(['error', 'allow']).default('error'),
		)
		.addOption(
			new Option('--overflow <policy>', 'scales that their dtype cannot hold')
				.choices(['error', 'allow'])
				.default('error'),
		)
		.option(
			'--correct',
			"mend the reference's faults: arithmetic in float32, not in the weights' dtype; in GGUF IQ3_S after 32 zeros and MXFP4 below 2^-125 (all else stays)",
		)
		.option('--pure', 'GGUF: every tensor gets the one type, without a recipe (needed for now)')
		.option('--imatrix <file>', 'GGUF: how much each column of a weight matters, as llama-imatrix measured it')
		.addOption(
			new Option(
				'--missing-importance <policy>',
				'GGUF: a type that is of no use without importance, and none for a tensor',
			).choices(['error', 'ones']),
		)
		.option('--allow-requantize', 'GGUF: quantize tensors that are quantized already, too')
		.option('--report <file.json>', 'write how far the new weights are from the old', notAPipe)
		.addOption(workersOption())
		.option('--dry-run', 'print what would become of each tensor, write nothing')
		.option('--json', JSON_HELP)
		.action((input, output, options) => {
			if (output === undefined && !options.dryRun) command.error("error: missing required argument 'out'");
			if (options.dryRun && options.report !== undefined)
				command.error(
					"error: option '--report <file.json>' cannot be used with '--dry-run': nothing is measured",
				);
			return quantizeCommand(input, output, options);
		});
	refuseLaterOptions(command);
}

/** @param {Command} root */
function addOthers(root) {
	root.command('dequantize')
		.summary('decode a quantized model to plain float weights')
		.addArgument(pathArgument('<in>', 'a quantized model: file, index or directory'))
		.addArgument(pathArgument('<out>', 'a file; a directory for a model of several files'))
		.addOption(
			new Option(
				'--dtype <dtype>',
				'of the weights (default: that of their scales, f16 in GGUF, else bf16)',
			).choices(['f32', 'f16', 'bf16']),
		)
		.addOption(workersOption())
		.option('--json', JSON_HELP)
		.action((input, output, options) => dequantizeCommand(input, output, options));
	root.command('inspect')
		.summary('list the tensors of a model and how they are quantized')
		.addArgument(pathArgument('<file>', 'a model: file, index or directory'))
		.option('--json', `${JSON_HELP}; of an array of more than 1000 elements { length, first }`)
		.option('--full', 'with --json: every element of every array')
		.action((file, options) => inspectCommand(file, options));
	root.command('compare')
		.summary('measure how far the weights of one model are from another')
		.addArgument(pathArgument('<a>', 'the reference'))
		.addArgument(pathArgument('<b>', 'the model to judge; quantized weights count as a loader decodes them'))
		.option('--tensors', 'a line for each tensor, too')
		.option('--json', JSON_HELP)
		.action((a, b, options) => compareCommand(a, b, options));
	root.command('schemes')
		.summary('list the named schemes, or show one in full')
		.argument('[name]', 'of a scheme, or a file with one as JSON')
		.option('--json', JSON_HELP)
		.action((name, options) => schemesCommand(name, options));
	root.command('sample')
		.summary('write a small model with random weights to try things with')
		.addArgument(pathArgument('<out>', 'a .safetensors file; config.json is written beside it'))
		.option('--seed <n>', 'the same seed gives the same bytes everywhere', integerFrom(0, 65535), 1)
		.option('--layers <n>', 'each has 3.1 million weights', integerFrom(1, 1000), 4)
		.addOption(new Option('--dtype <dtype>', 'of the weights').choices(['bf16', 'f32']).default('bf16'))
		.option('--json', JSON_HELP)
		.action((output, options) => sampleCommand(output, options));
}

/** The command line; parsing throws CommanderError instead of ending the process. */
export function program() {
	const root = new Command('blockquant')
		.description('Quantizes neural-network weights in blocks: byte for byte what the references write.')
		.version(version)
		.helpCommand(false)
		.addHelpText(
			'after',
			'\nExit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted. Where stdout cannot be written to (a full disk) it is 1, too:' +
				'\nthe files that the command wrote are complete then. BLOCKQUANT_DEBUG=1 shows where an error comes from.',
		);
	/* Inherited by the commands below. Errors are printed by main.js, in one line. */
	root.exitOverride().configureOutput({ outputError: () => {} });
	addQuantize(root);
	addOthers(root);
	return root;
}
