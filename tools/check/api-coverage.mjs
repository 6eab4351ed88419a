#!/usr/bin/env node
// Accounts for every function of the C library behind a package: `api-coverage.mjs [PACKAGE] [--write] [--json]
// [--release PATH]…`. PATH is what there is of a further release, whose functions must be known as well: a map file of
// rdma-core, a shared library, or a folder of headers.
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import prettier from 'prettier';
import { cover } from './src/api-coverage/cover.mjs';
import { markdown } from './src/api-coverage/document.mjs';
import { readPlan } from './src/api-coverage/plan.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    write: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    release: { type: 'string', multiple: true, default: [] },
  },
});
const directory = resolve(positionals[0] ?? '.');
const plan = readPlan(directory);
const coverage = cover(directory, plan, values.release);
const { rows, problems, missing } = coverage;
const path = resolve(directory, plan.document);
const options = (await prettier.resolveConfig(path)) ?? {};
const text = await prettier.format(markdown(plan, coverage), { ...options, parser: 'markdown' });
if (values.write) writeFileSync(path, text);
else if (read(path) !== text) problems.push(`${plan.document} is not up to date: run the coverage check with --write`);

if (values.json) {
  console.log(JSON.stringify({ functions: rows, problems, missing }, null, 2));
} else {
  for (const { name, api, reason } of rows) console.log(`${name.padEnd(40)} ${reason ?? api.join(', ')}`);
  for (const library of missing) console.log(`${library} was not found; its symbols were not compared`);
  for (const problem of problems) console.error(`coverage: ${problem}`);
  console.log(`${rows.length} functions, ${problems.length} unaccounted`);
}
process.exitCode = problems.length === 0 ? 0 : 1;

/** @param {string} file */
function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
