/** @import { TranslationUnit } from './translation-units.mjs' */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from '../../../setup/src/paths.mjs';
import { unitText } from './unit-text.mjs';

/**
 * The findings in a unit, each as `FILE:LINE:COLUMN: message`. Sources that do not compile in the company of the others
 * are read by themselves.
 * @param {TranslationUnit} unit
 * @returns {Promise<string[]>}
 */
export async function checkUnit(unit) {
  const { output, failed } = await tidy(unit);
  const findings = output.split('\n').filter((line) => /^\S+:\d+:\d+: (warning|error): /.test(line));
  const errors = findings.filter((line) => line.includes('[clang-diagnostic-error'));
  if (errors.length > 0 && unit.sources.length > 1) return checkApart(unit, errors);
  if (findings.length === 0 && failed) return [`clang-tidy failed on ${unit.sources.join(' ')}:\n${output}`];
  return findings.map((line) => line.replaceAll(`${root}/`, '').replace(/,-warnings-as-errors\]$/, ']'));
}

/**
 * @param {TranslationUnit} unit
 * @param {readonly string[]} errors
 */
async function checkApart(unit, errors) {
  const named = unit.sources.filter((source) => errors.some((line) => line.startsWith(`${source}:`)));
  const alone = named.length > 0 ? named : unit.sources;
  const rest = unit.sources.filter((source) => !alone.includes(source));
  const units = [...(rest.length > 0 ? [rest] : []), ...alone.map((source) => [source])];
  const findings = [];
  for (const sources of units) findings.push(...(await checkUnit({ ...unit, sources })));
  for (const source of alone)
    console.error(`naming: ${relative(root, source)} compiles only by itself: name it in translation-units.mjs`);
  return findings;
}

/**
 * Each file is held to the .clang-tidy of a folder above it: that of the repository, or none for the system's headers. Held to
 * ours, they would have tens of thousands of findings, which are not shown and take two thirds of the time. So the unit is a file
 * of the repository, and no --config-file is named.
 * @param {TranslationUnit} unit
 */
function tidy({ sources, options }) {
  const build = join(root, 'build');
  mkdirSync(build, { recursive: true });
  const folder = mkdtempSync(join(build, 'naming-'));
  const file = join(folder, 'unit.cc');
  writeFileSync(file, unitText(sources));
  const rules = ['--checks=-*,readability-identifier-naming', '--quiet'];
  return /** @type {Promise<{ output: string, failed: boolean }>} */ (
    new Promise((done, fail) => {
      const child = spawn('clang-tidy-19', [...rules, file, '--', ...options], { stdio: ['ignore', 'pipe', 'ignore'] });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (/** @type {string} */ text) => (output += text));
      child.on('error', fail);
      child.on('close', (status) => {
        rmSync(folder, { recursive: true, force: true });
        done({ output, failed: status !== 0 });
      });
    })
  );
}
