import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { fetchNode } from './node-package.mjs';
import { toolsDirectory } from './paths.mjs';
import { say } from './say.mjs';

/**
 * The folder whose include/node holds the headers of the running Node, or undefined if there is none yet.
 * node-gyp takes it as `nodedir`; left alone, it would want to download the headers.
 */
export function nodeHeaders() {
  return [resolve(dirname(realpathSync(process.execPath)), '..'), fetched()].find(hasHeaders);
}

/** Makes sure that nodeHeaders() finds something: at worst it fetches the npm package that holds them. */
export function getNodeHeaders() {
  const there = nodeHeaders();
  if (there !== undefined) {
    say('Node headers', join(there, 'include/node'));
    return;
  }
  say('Node headers', `there are none beside ${process.execPath}; fetching them from npm`);
  fetchNode({ version: process.versions.node, part: 'include', into: fetched() });
}

function fetched() {
  return join(toolsDirectory, `node-headers-${process.versions.node}`);
}

/**
 * Headers of another release would build an addon for another ABI, so the version must be ours.
 * @param {string} directory
 */
export function hasHeaders(directory) {
  const include = join(directory, 'include/node');
  if (!existsSync(join(include, 'node.h')) || !existsSync(join(include, 'node_version.h'))) return false;
  return headerVersion(readFileSync(join(include, 'node_version.h'), 'utf8')) === process.versions.node;
}

/**
 * @param {string} text of node_version.h
 * @returns {string}
 */
export function headerVersion(text) {
  return ['MAJOR', 'MINOR', 'PATCH']
    .map((part) => new RegExp(`#define NODE_${part}_VERSION (\\d+)`).exec(text)?.[1] ?? '?')
    .join('.');
}
