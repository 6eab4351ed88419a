// Prints the sources of an addon for its binding.gyp, which calls it in the addon's folder: eight sources are compiled as
// one, since most of the time goes into the headers of Node-API and the standard library. File-local names are therefore
// unique within an addon. With VERBS_UNITY=OFF each source is compiled by itself, for tools that read file by file.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const BATCH = 8;

/** @param {string} path @param {string} text */
function writeIfChanged(path, text) {
  try {
    if (readFileSync(path, 'utf8') === text) return;
  } catch {
    // It is new.
  }
  writeFileSync(path, text);
}

/** @param {string[]} sources @returns {string[]} */
function batches(sources) {
  mkdirSync('build/batches', { recursive: true });
  /** @type {string[]} */
  const paths = [];
  for (let start = 0; start < sources.length; start += BATCH) {
    const path = `build/batches/batch_${paths.length}.cc`;
    const includes = sources.slice(start, start + BATCH).map((source) => `#include "../../${source}"\n`);
    writeIfChanged(path, includes.join(''));
    paths.push(path);
  }
  return paths;
}

const sources = process.argv.slice(2);
console.log((process.env['VERBS_UNITY'] === 'OFF' ? sources : batches(sources)).join('\n'));
