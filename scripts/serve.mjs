// serve.mjs - the demo page on this machine: a static server of web-demo/, dist/ and js/. `npm run web`, PORT=n for another port.
// SPDX-License-Identifier: MIT
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, extname, join, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream';
import { fileURLToPath } from 'node:url';

const TYPES = {
	'.html': 'text/html; charset=utf-8',
	'.css': 'text/css; charset=utf-8',
	'.js': 'text/javascript; charset=utf-8',
	'.mjs': 'text/javascript; charset=utf-8',
	'.json': 'application/json',
	'.svg': 'image/svg+xml',
	'.png': 'image/png',
	'.wasm': 'application/wasm',
};

/**
 * Serves the files below a folder, on this machine only. No COOP or COEP: nothing of ours needs them.
 * @param {string} folder
 * @param {{ port?: number, headers?: Record<string, string>, allow?: (path: string) => boolean }} [options] allow: which paths
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function serve(folder, { port = 0, headers = {}, allow = () => true } = {}) {
	const root = resolve(folder);
	const server = createServer(async (request, response) => {
		const refuse = (status, more = {}) => response.writeHead(status, more).end(`${status}\n`);
		try {
			if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405);
			const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
			let file = join(root, path);
			if (!file.startsWith(root + sep) && file !== root) return refuse(404);
			if (!allow(path)) return refuse(404);
			let found = await stat(file);
			if (found.isDirectory()) {
				if (!path.endsWith('/')) return refuse(301, { location: `${path}/` });
				file = join(file, 'index.html');
				found = await stat(file);
			}
			response.writeHead(200, {
				'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
				'content-length': found.size,
				'cache-control': 'no-store',
				...headers,
			});
			if (request.method === 'HEAD') response.end();
			else pipeline(createReadStream(file), response, () => {});
		} catch {
			if (!response.headersSent) refuse(404);
		}
	});
	await new Promise((done, fail) => server.once('error', fail).listen(port, '127.0.0.1', done));
	return {
		url: `http://127.0.0.1:${server.address().port}`,
		close: () =>
			new Promise((done) => {
				server.close(done);
				server.closeAllConnections();
			}),
	};
}

/** The page's policy for its worker too: a worker has that of its own response. Nothing may connect anywhere. */
export const DEMO_HEADERS = {
	'content-security-policy':
		"default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; img-src 'self'",
};

/** The demo page needs these folders and no other. @param {string} path */
export const isOfDemo = (path) => /^\/(web-demo|dist|js)(\/|$)/.test(path) && !path.includes('/.');

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
	const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
	const built = await stat(join(root, 'dist/index.mjs')).catch(() => null);
	if (built === null) {
		console.error('serve: dist/ is missing: npm run build');
		process.exit(1);
	}
	try {
		const { url } = await serve(root, {
			port: Number(process.env.PORT ?? 8080),
			headers: DEMO_HEADERS,
			allow: isOfDemo,
		});
		console.log(`BlockQuant's page: ${url}/web-demo/  (Ctrl-C ends)`);
	} catch (error) {
		console.error(`serve: ${error.message}; another port: PORT=8081 npm run web`);
		process.exit(1);
	}
}
