// browser-support.js - what the tests in browsers share: Debian's Chromium and Firefox, started by puppeteer-core; what a page's
// console and errors said; whether the page's thread was held up.
// SPDX-License-Identifier: MIT

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import puppeteer from 'puppeteer-core';

/** @param {string} variable @param {string[]} usual */
const program = (variable, usual) => [process.env[variable], ...usual].find((path) => path && existsSync(path));

/** By name: the program, or undefined. BLOCKQUANT_CHROMIUM and BLOCKQUANT_FIREFOX name others. */
const programs = {
	chromium: program('BLOCKQUANT_CHROMIUM', ['/usr/bin/chromium', '/usr/bin/google-chrome']),
	firefox: program('BLOCKQUANT_FIREFOX', ['/usr/bin/firefox-esr']),
};

export const browserNames = /** @type {const} */ (['chromium', 'firefox']);

/** Why tests in this browser are skipped; false if they are not. @param {'chromium' | 'firefox'} name */
export function skipReason(name) {
	return programs[name] === undefined && `no ${name} here (scripts/setup.sh --test installs it on Debian)`;
}

/**
 * A suite for each browser; where one is missing, a test that is skipped and says why (Node counts no skipped suite).
 * @param {string} what
 * @param {number} timeout in ms
 * @param {(name: 'chromium' | 'firefox') => void} suite
 */
export function describeInBrowsers(what, timeout, suite) {
	for (const name of browserNames) {
		const skip = skipReason(name);
		if (skip) it(`${what} in ${name}`, { skip });
		else describe(`${what} in ${name}`, { timeout }, () => suite(name));
	}
}

const CHROMIUM_ARGUMENTS = [
	'--no-sandbox', // it refuses to run as root with one
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
	'--disable-dev-shm-usage',
];

/**
 * A browser with a profile and a folder of downloads of its own, which go with it.
 * @param {'chromium' | 'firefox'} name
 * @param {Record<string, unknown>} [preferences] of Firefox
 */
export async function startBrowser(name, preferences = {}) {
	const folder = mkdtempSync(join(tmpdir(), `blockquant-${name}-`));
	const downloads = join(folder, 'downloads');
	const common = { executablePath: programs[name], headless: true, protocolTimeout: 120_000 };
	const browser =
		name === 'chromium'
			? await puppeteer.launch({
					...common,
					args: CHROMIUM_ARGUMENTS,
					userDataDir: join(folder, 'profile'),
					downloadBehavior: { policy: 'allow', downloadPath: downloads },
				})
			: await puppeteer.launch({
					...common,
					browser: 'firefox',
					extraPrefsFirefox: {
						...preferences,
						'browser.download.folderList': 2,
						'browser.download.dir': downloads,
						'browser.download.useDownloadDir': true,
						'browser.download.always_ask_before_handling_new_types': false,
						'browser.download.alwaysOpenPanel': false,
						'browser.helperApps.neverAsk.saveToDisk': 'application/octet-stream,application/json',
					},
				});
	return {
		browser,
		downloads,
		async close() {
			await browser.close();
			rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
		},
	};
}

/**
 * A new page that keeps what goes wrong on it: errors, and warnings or errors on its console.
 * @param {import('puppeteer-core').Browser} browser
 */
export async function newPage(browser) {
	const page = await browser.newPage();
	/** @type {string[]} */
	const complaints = [];
	page.on('pageerror', (error) => complaints.push(String(error)));
	page.on('console', (message) => {
		if (message.type() === 'error' || message.type() === 'warn') complaints.push(message.text());
	});
	return { page, complaints };
}
