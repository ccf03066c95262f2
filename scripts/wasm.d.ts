/* What `import wasm from '….wasm'` gives: the bytes (scripts/build.mjs inlines them), or in workerd a compiled module,
 * which is an empty interface to the type checker. */
declare module '*.wasm' {
	const wasm: Uint8Array<ArrayBuffer>;
	export default wasm;
}

/* build/core.deflate is core.wasm, deflated (scripts/build.mjs). */
declare module '*.deflate' {
	const bytes: Uint8Array<ArrayBuffer>;
	export default bytes;
}

/* build/worker.txt is js/entry/band-worker.js in one piece, as text (scripts/build.mjs). */
declare module '*.txt' {
	const text: string;
	export default text;
}
