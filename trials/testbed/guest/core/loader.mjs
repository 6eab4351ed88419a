// Loads the TypeScript of @verbs/core as the host has compiled it (src/comparison/core-compile.mjs), under its own name, so that all
// paths that it makes of import.meta.url are right.
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = process.env['VERBS_KERNEL_SOURCES'] ?? '';
const compiled = process.env['VERBS_KERNEL_COMPILED'] ?? '';

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, next) {
  if (specifier === 'vitest') return { url: new URL('vitest.mjs', import.meta.url).href, shortCircuit: true };
  if (/^\..*\.js$/.test(specifier) && context.parentURL?.endsWith('.ts') === true) {
    const path = fileURLToPath(new URL(specifier.replace(/js$/, 'ts'), context.parentURL));
    if (existsSync(path)) return { url: pathToFileURL(path).href, shortCircuit: true };
  }
  return await next(specifier, context);
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return await next(url, context);
  const source = readFileSync(`${compiled}/${relative(root, fileURLToPath(url))}.mjs`, 'utf8');
  return { format: 'module', source, shortCircuit: true };
}
