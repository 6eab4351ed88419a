import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { npm } from './npm.mjs';
import { toolsDirectory } from './paths.mjs';
import { say } from './say.mjs';
import { mustRun } from './shell.mjs';

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
  const name = `node-linux-${process.arch}`;
  const spec = `${name}@${process.versions.node}`;
  say('Node headers', `there are none beside ${process.execPath}; fetching the npm package ${spec}`);
  const partial = `${fetched()}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  npm(['pack', spec, '--pack-destination', partial]);
  const archive = join(partial, `${name}-${process.versions.node}.tgz`);
  mustRun('tar', ['-xzf', archive, '-C', partial, '--strip-components=1', 'package/include']);
  rmSync(archive);
  rmSync(fetched(), { recursive: true, force: true });
  renameSync(partial, fetched());
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
