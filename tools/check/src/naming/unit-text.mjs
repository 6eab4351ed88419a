import { readFileSync } from 'node:fs';
import { fileLocalNames } from './file-local-names.mjs';

/**
 * The text of a unit that includes sources one after the other. A file-local name that an earlier source has declared as
 * well gets a number while the later source is read.
 * @param {readonly string[]} sources
 */
export function unitText(sources) {
  /** @type {Set<string>} */
  const declared = new Set();
  /** @type {string[]} */
  const lines = [];
  for (const [index, source] of sources.entries()) {
    const text = readFileSync(source, 'utf8');
    const names = new Set(fileLocalNames(text));
    const again = [...names].filter((name) => declared.has(name));
    // Headers see their own names. The definitions are those of this text, not names to check.
    const defined = again.filter((name) => !isMacro(name, text)).map((name) => `#define ${name} ${name}000${index}`);
    if (defined.length > 0)
      lines.push(...(text.match(/^#include .*/gm) ?? []), '// NOLINTBEGIN', ...defined, '// NOLINTEND');
    lines.push(...again.filter((name) => isMacro(name, text)).map((name) => `#undef ${name}`));
    lines.push(`#include "${source}"`, ...again.map((name) => `#undef ${name}`));
    for (const name of names) declared.add(name);
  }
  return `${lines.join('\n')}\n`;
}

/**
 * Whether a source can share a unit with one that declares the same name: not if it has members of that name, which
 * would be renamed with it.
 * @param {string} name
 * @param {string} text
 */
export function canBeNumbered(name, text) {
  return isMacro(name, text) || !new RegExp(String.raw`(\.|->|::)${name}\b`).test(text);
}

/**
 * @param {string} name
 * @param {string} text
 */
function isMacro(name, text) {
  return new RegExp(String.raw`^#define ${name}\b`, 'm').test(text);
}
