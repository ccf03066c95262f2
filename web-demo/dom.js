// dom.js - finding and making elements.
// SPDX-License-Identifier: MIT

/**
 * The element of an id; the page has it.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @returns {T}
 */
export function byId(id) {
	return /** @type {T} */ (document.getElementById(id));
}

/**
 * An element with properties and children. Text is text, never markup: names come from files.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Partial<HTMLElementTagNameMap[K]>} properties
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, properties = {}, ...children) {
	const element = Object.assign(document.createElement(tag), properties);
	element.append(...children);
	return element;
}

/**
 * A bar of a share of its cell, drawn by the style sheet.
 * @param {number} share 0 to 1
 * @param {string} className
 */
export function bar(share, className) {
	const element = make('span', { className: `fill ${className}` });
	element.style.width = `${(100 * Math.min(1, Math.max(0, share))).toFixed(2)}%`;
	return element;
}
