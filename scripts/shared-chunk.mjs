// shared-chunk.mjs - entries that share one file, so that two of them in one program are one core: dist/shared.mjs has all modules
// that the default entry needs. esbuild's own splitting makes a file for each set of entries, which together compress worse.
// SPDX-License-Identifier: MIT

import { readFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';

const SHARED = './shared.mjs';

/** Modules of which only the entry itself is made, with the wasm inside. */
const OWN = /^(js\/entry\/|build\/core)/;

/**
 * Builds ES modules from entry points, and the file that they share.
 * @param {import('esbuild').BuildOptions & { absWorkingDir: string }} common
 * @param {Record<string, string>} entryPoints the first is the default one
 * @returns {Promise<import('esbuild').Metafile['outputs']>}
 */
export async function buildWithShared(common, entryPoints) {
	const { absWorkingDir: root } = common;
	const [first] = Object.values(entryPoints);
	const alone = { ...common, write: false, format: /** @type {const} */ ('esm') };
	const { metafile } = await build({ ...alone, entryPoints: [first] });
	const modules = Object.keys(metafile.inputs).filter((module) => !OWN.test(module));
	const names = await exportsOf(alone, modules);
	/** Their names in the shared file. @param {string} module @param {string} name */
	const sharedName = (module, name) => `${name}_${modules.indexOf(module)}`;
	const stubs = {
		name: 'shared-modules',
		/** @param {import('esbuild').PluginBuild} plugin */
		setup(plugin) {
			plugin.onResolve({ filter: /^\.\/shared\.mjs$/ }, () => ({ path: SHARED, external: true }));
			// A stub for each importer: one for all would be a file of its own.
			plugin.onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir, importer }) => {
				const module = relative(root, resolve(resolveDir, path));
				return modules.includes(module)
					? { path: module, namespace: 'stub', suffix: `?${importer}` }
					: undefined;
			});
			plugin.onLoad({ filter: /./, namespace: 'stub' }, ({ path: module }) => {
				const list = names[module].map((name) => `${sharedName(module, name)} as ${name}`);
				return { contents: `export { ${list.join(', ')} } from '${SHARED}';`, resolveDir: root };
			});
		},
	};
	const plugins = [...(common.plugins ?? []), stubs];
	const options = { format: /** @type {const} */ ('esm'), outExtension: { '.js': '.mjs' }, splitting: true };
	const entries = await build({ ...common, ...options, plugins, entryPoints, chunkNames: 'chunk-[hash]' });
	const used = await importedFrom(entries.metafile, root);
	const lines = modules.map((module) => {
		const list = names[module]
			.map((name) => [name, sharedName(module, name)])
			.filter(([, shared]) => used.has(shared));
		return list.length
			? `export { ${list.map(([name, shared]) => `${name} as ${shared}`).join(', ')} } from './${module}';`
			: '';
	});
	const stdin = { contents: lines.join('\n'), resolveDir: root };
	const shared = await build({
		...common,
		format: 'esm',
		stdin,
		outdir: undefined,
		outfile: join(common.outdir ?? '', basename(SHARED)),
	});
	return { ...entries.metafile.outputs, ...shared.metafile.outputs };
}

/** The names that modules export, those of others included. @param {any} options @param {string[]} modules @returns {Promise<Record<string, string[]>>} */
async function exportsOf(options, modules) {
	const { metafile } = await build({ ...options, entryPoints: modules, splitting: true });
	const rows = Object.values(metafile.outputs).filter(({ entryPoint }) => entryPoint);
	return Object.fromEntries(rows.map(({ entryPoint, exports }) => [entryPoint, exports]));
}

/** The names that built files import from the shared one. @param {import('esbuild').Metafile} metafile @param {string} root */
async function importedFrom({ outputs }, root) {
	const files = Object.keys(outputs).filter((file) => file.endsWith('.mjs'));
	const texts = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')));
	const lists = texts.flatMap((text) =>
		[...text.matchAll(/\{([^{}]*)\}from"\.\/shared\.mjs"/g)].map(([, list]) => list),
	);
	return new Set(lists.flatMap((list) => list.split(',').map((item) => item.split(' as ')[0])));
}
