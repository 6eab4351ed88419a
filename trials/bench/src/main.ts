import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release } from 'node:os';
import { comparisons } from './comparisons.js';
import { writeDocuments } from './report/documents.js';
import { htmlReport } from './report/html.js';
import { plural } from './report/format.js';
import { describe, describeTargets } from './report/text.js';
import { runAll } from './run/all.js';
import { readSettings, type Settings, USAGE } from './settings.js';

/**
 * The exit code is 0, 1 if a program of ours fails, 2 for a wrong command line. Of a failure the report says what it was, beside
 * all that was measured. A missed target is a result, not a failure.
 */
export async function main(args: string[]): Promise<void> {
  let settings: Settings | undefined;
  try {
    settings = readSettings(args);
  } catch (error) {
    console.error(`bench: ${(error as Error).message}\n\n${USAGE}`);
    process.exitCode = 2;
    return;
  }
  if (settings === undefined) {
    console.log(USAGE);
    return;
  }
  try {
    await run(settings, args);
  } catch (error) {
    console.error(`bench: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}

async function run(settings: Settings, args: readonly string[]): Promise<void> {
  const { quick, only, json, html, write, baseline } = settings;
  const all = comparisons({ scale: quick ? 0.1 : 1, quick, ...(baseline !== undefined && { baseline }) });
  const wanted = all.filter(({ name }) => name.includes(only));
  if (wanted.length === 0) throw new Error(`no comparison has "${only}" in its name`);
  const { rounds, results } = await runAll(wanted, settings);
  const about = {
    command: ['npm run bench', ...(args.length === 0 ? [] : ['--', ...args])].join(' '),
    date: new Date().toISOString().slice(0, 16).replace('T', ' '),
    rounds,
    processors: { model: cpus()[0]?.model ?? 'unknown', count: availableParallelism() },
    node: process.version,
    kernel: release(),
  };
  if (results.some(({ contenders }) => contenders.some(({ failed }) => failed))) process.exitCode = 1;
  if (html !== undefined) writeFileSync(html, htmlReport(about, results));
  if (write !== undefined) writeDocuments(write, about, results);
  if (json) {
    console.log(JSON.stringify({ ...about, results }, null, 2));
    return;
  }
  const { processors } = about;
  console.log(`\n${results.map(describe).join('\n\n')}\n\n${describeTargets(results)}\n`);
  console.log(`${plural(rounds, 'round')}, ${plural(processors.count, 'processor')} ${processors.model}`);
}
