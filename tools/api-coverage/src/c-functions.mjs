/** @import { Plan } from './plan.mjs' */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Every function that the headers declare or define inline, as the compiler sees them.
 * @param {Plan} plan
 * @returns {Set<string>}
 */
export function headerFunctions({ headers, declaredIn, match }) {
  const directory = mkdtempSync(join(tmpdir(), 'verbs-coverage-'));
  try {
    const source = join(directory, 'all.c');
    const list = join(directory, 'functions.txt');
    writeFileSync(
      source,
      headers.map((header) => `#include ${header.startsWith('/') ? `"${header}"` : `<${header}>`}\n`).join(''),
    );
    execFileSync('gcc', ['-aux-info', list, '-fsyntax-only', source]);
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
 * Every public function that the libraries export, and the libraries that are not installed.
 * @param {Plan} plan
 * @returns {{ names: Set<string>, missing: string[] }}
 */
export function librarySymbols({ libraries, match, hidden }) {
  const names = new Set();
  const missing = [];
  for (const library of libraries) {
    const path = find(library);
    if (path === undefined) {
      missing.push(library);
      continue;
    }
    const symbols = execFileSync('nm', ['-D', '--defined-only', path], { encoding: 'utf8' })
      .split('\n')
      .flatMap((line) => {
        const [, name, version] = / [TW] (\w+)(?:@+(\S+))?$/.exec(line) ?? [];
        return name !== undefined && new RegExp(match).test(name) ? [{ name, version }] : [];
      });
    // What has no version in a library of versions is between the library and its providers, of every release.
    const versioned = symbols.some(({ version }) => version !== undefined);
    for (const { name, version } of symbols) {
      const isHidden = hidden !== undefined && (version === undefined ? versioned : new RegExp(hidden).test(version));
      if (!isHidden) names.add(name);
    }
  }
  return { names, missing };
}

/**
 * The file behind a path or a SONAME.
 * @param {string} library
 */
function find(library) {
  if (library.includes('/')) return existsSync(library) ? library : undefined;
  const cache = execFileSync('/sbin/ldconfig', ['-p'], { encoding: 'utf8' });
  return cache
    .split('\n')
    .find((line) => line.trim().startsWith(`${library} `))
    ?.split(' => ')[1];
}
