/** @import { Plan } from './plan.mjs' */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** @typedef {Pick<Plan, 'headers' | 'declaredIn' | 'match' | 'hidden'>} Library what the plan says of the C library */

/**
 * Every function that the headers declare or define inline, as the compiler sees them.
 * @param {Library} plan
 * @param {string} [folder] of another release's headers; default those of the system
 * @returns {Set<string>}
 */
export function headerFunctions({ headers, declaredIn, match }, folder) {
  const directory = mkdtempSync(join(tmpdir(), 'verbs-coverage-'));
  try {
    const source = join(directory, 'all.c');
    const list = join(directory, 'functions.txt');
    writeFileSync(
      source,
      headers.map((header) => `#include ${header.startsWith('/') ? `"${header}"` : `<${header}>`}\n`).join(''),
    );
    const from = folder === undefined ? [] : ['-isystem', folder];
    execFileSync('gcc', [...from, '-aux-info', list, '-fsyntax-only', source]);
    const names = readFileSync(list, 'utf8')
      .split('\n')
      .filter((line) => line.includes(declaredIn))
      .flatMap((line) => /(\w+) \(/.exec(line)?.[1] ?? []);
    return new Set(names.filter((name) => new RegExp(match).test(name)));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/**
 * Every public function that a library exports.
 * @param {Library} plan
 * @param {string} path
 * @returns {Set<string>}
 */
export function librarySymbols(plan, path) {
  const symbols = execFileSync('nm', ['-D', '--defined-only', path], { encoding: 'utf8' })
    .split('\n')
    .flatMap((line) => {
      const [, name, node] = / [TW] (\w+)(?:@+(\S+))?$/.exec(line) ?? [];
      return name === undefined ? [] : [{ name, node }];
    });
  return publicNames(plan, symbols);
}

/**
 * Every public function of a version script, as rdma-core has one for each library.
 * @param {Library} plan
 * @param {string} text
 * @returns {Set<string>}
 */
export function mapFunctions(plan, text) {
  const symbols = [];
  for (const [, node, body = ''] of text.replace(/\/\*[\s\S]*?\*\//g, '').matchAll(/([\w.]+)\s*\{([^}]*)\}/g)) {
    const listed = body.replace(/\blocal:[^:]*(?=$|\bglobal:)/g, '').replaceAll('global:', '');
    for (const name of listed.split(';')) if (/^\w+$/.test(name.trim())) symbols.push({ name: name.trim(), node });
  }
  return publicNames(plan, symbols);
}

/**
 * The public functions of any release, by what there is of it: a folder of headers, a version script or a library.
 * @param {Library} plan
 * @param {string} path
 * @returns {Set<string>}
 */
export function functionsOf(plan, path) {
  if (statSync(path).isDirectory()) return headerFunctions(plan, path);
  return path.endsWith('.map') ? mapFunctions(plan, readFileSync(path, 'utf8')) : librarySymbols(plan, path);
}

/**
 * @param {Library} plan
 * @param {readonly { name: string, node: string | undefined }[]} symbols
 */
function publicNames({ match, hidden }, symbols) {
  // What has no version in a library of versions is between the library and its providers, of every release.
  const versioned = symbols.some(({ node }) => node !== undefined);
  const isHidden = (/** @type {string | undefined} */ node) =>
    hidden !== undefined && (node === undefined ? versioned : new RegExp(hidden).test(node));
  const known = symbols.filter(({ name, node }) => new RegExp(match).test(name) && !isHidden(node));
  return new Set(known.map(({ name }) => name));
}

/**
 * The file behind a path or a SONAME.
 * @param {string} library
 * @returns {string | undefined}
 */
export function findLibrary(library) {
  if (library.includes('/')) return existsSync(library) ? library : undefined;
  const cache = execFileSync('/sbin/ldconfig', ['-p'], { encoding: 'utf8' });
  return cache
    .split('\n')
    .find((line) => line.trim().startsWith(`${library} `))
    ?.split(' => ')[1];
}
