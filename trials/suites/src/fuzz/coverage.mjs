import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import process from 'node:process';
import { installMissing } from '../../../../tools/setup/src/debian.mjs';
import { root } from '../../../../tools/setup/src/paths.mjs';
import { Problem } from '../../../../tools/setup/src/problem.mjs';
import { mustRun, outputOf } from '../../../../tools/setup/src/shell.mjs';
import { countOf, fastOf, totalOf } from './counts.mjs';
import { buildFuzzers, compiler, discoveredOf, packageOf, regressionsOf } from './build.mjs';

/** @typedef {{ lines: { count: number, covered: number }, branches: { count: number, covered: number } }} Summary */
/** @typedef {{ data: { files: { filename: string, summary: Summary }[] }[] }} Export as llvm-cov prints it */

const place = 'build/fuzz-coverage';
const readme = join(root, 'packages/soft/native/fuzz/README.md');
const [begin, end] = ['<!-- coverage -->', '<!-- end of coverage -->'];

/**
 * Builds the targets with Clang's counters, replays every known input, and says what of each room was reached.
 * @param {string[]} targets
 * @param {NodeJS.ProcessEnv} env
 * @returns {string} a table in Markdown
 */
export function coverageTable(targets, env) {
  installMissing([...compiler, 'llvm-19']);
  const counters = '-fprofile-instr-generate -fcoverage-mapping';
  const build = ['-DCMAKE_BUILD_TYPE=RelWithDebInfo', '-DVERBS_FUZZ=OFF', `-DCMAKE_CXX_FLAGS=${counters}`];
  buildFuzzers(targets, place, build, env);
  const folders = [...new Set(targets.map(packageOf))];
  const files = folders.flatMap((folder) =>
    measure(
      folder,
      targets.filter((name) => packageOf(name) === folder),
    ),
  );
  return `${runs(targets)}\n\n${table(files)}`;
}

/**
 * @param {string[]} targets
 * @returns {string} what all recorded runs executed, and how fast those of this checkout were
 */
function runs(targets) {
  const rows = targets.map((name) => {
    const { executions, seconds } = countOf(name);
    const speed = seconds === 0 ? '-' : Math.round(executions / seconds).toLocaleString('en');
    const total = totalOf(name);
    return [name, total.toLocaleString('en'), (total - fastOf(name)).toLocaleString('en'), speed];
  });
  return markdown([['target', 'executions', 'with the sanitizers', 'a second'], ...rows]);
}

/**
 * @param {string} folder a package's
 * @param {string[]} targets of the package
 * @returns {[path: string, summary: Summary][]} of each of its source files
 */
function measure(folder, targets) {
  const built = join(folder, place, 'fuzz');
  const profiles = join(folder, place, 'profiles');
  rmSync(profiles, { recursive: true, force: true });
  mkdirSync(profiles, { recursive: true });
  for (const name of targets) {
    const corpora = [join(built, 'seeds', name), regressionsOf(name), discoveredOf(name)].filter(hasFiles);
    replay(name, join(built, `fuzz_${name}`), corpora, join(profiles, name));
  }
  const merged = join(profiles, 'all.profdata');
  mustRun('llvm-profdata-19', ['merge', '-o', merged, ...targets.map((name) => join(profiles, `${name}.profraw`))]);
  const [first = '', ...others] = targets.map((name) => join(built, `fuzz_${name}`));
  const objects = others.flatMap((program) => ['-object', program]);
  const text = outputOf('llvm-cov-19', ['export', '-summary-only', `-instr-profile=${merged}`, first, ...objects]);
  if (text === undefined) throw new Problem('llvm-cov-19 cannot read the profile');
  /** @type {Export} */
  const parsed = JSON.parse(text);
  const files = parsed.data.flatMap((part) => part.files);
  return files.map(({ filename, summary }) => [relative(root, filename), summary]);
}

/**
 * Runs a target over known inputs. A Problem says how it ended otherwise than well, and on which.
 * @param {string} name of the target
 * @param {string} program
 * @param {string[]} corpora
 * @param {string} profile path of what it writes, without the ending
 */
export function replay(name, program, corpora, profile) {
  const env = { ...process.env, LLVM_PROFILE_FILE: `${profile}.profraw` };
  const log = openSync(`${profile}.log`, 'w');
  const { status, signal } = spawnSync(program, corpora, { env, stdio: ['ignore', log, 2] });
  closeSync(log);
  if (status === 0) return;
  // It tells each input before it runs it.
  const last = readFileSync(`${profile}.log`, 'utf8').trimEnd().split('\n').at(-1);
  throw new Problem(`fuzz_${name} ended with ${signal ?? status} on ${last}: npm run trial fuzz -- --target ${name}`);
}

/** @param {string} folder */
const hasFiles = (folder) => existsSync(folder) && readdirSync(folder).length > 0;

/**
 * The room of a source file: the package, and at most two folders below native/ ("soft nic/ingress"). Undefined for
 * what is fuzzed with: the targets themselves, and readers of the tests.
 * @param {string} path
 */
function roomOf(path) {
  const [, name, rest] = /^packages\/([^/]+)\/native\/(.+)\/[^/]+$/.exec(path) ?? [];
  if (name === undefined || rest === undefined || /^(fuzz|test)(\/|$)/.test(rest)) return undefined;
  return `${name} ${rest.split('/').slice(0, 2).join('/')}`;
}

/**
 * @param {[path: string, summary: Summary][]} files
 * @returns {string}
 */
export function table(files) {
  /** @type {Map<string, { lines: number[], edges: number[] }>} */
  const rooms = new Map();
  /** @type {Map<string, Summary>} */
  const best = new Map();
  // Packages link the files of others: the better replay counts.
  for (const [path, summary] of files) {
    const other = best.get(path);
    if (other === undefined || other.lines.covered < summary.lines.covered) best.set(path, summary);
  }
  for (const [path, { lines, branches }] of best) {
    const name = roomOf(path);
    if (name === undefined) continue;
    const room = rooms.get(name) ?? { lines: [0, 0], edges: [0, 0] };
    room.lines = [(room.lines[0] ?? 0) + lines.covered, (room.lines[1] ?? 0) + lines.count];
    room.edges = [(room.edges[0] ?? 0) + branches.covered, (room.edges[1] ?? 0) + branches.count];
    rooms.set(name, room);
  }
  const reached = [...rooms].filter(([, { lines }]) => (lines[0] ?? 0) > 0).sort(([a], [b]) => (a < b ? -1 : 1));
  const rows = reached.map(([name, { lines, edges }]) => [name, share(lines), share(edges)]);
  return markdown([['room', 'lines', 'edges'], ...rows]);
}

/** @param {number[]} counts what was reached, and all */
function share([reached = 0, all = 0]) {
  return all === 0 ? '-' : `${reached} of ${all} (${Math.floor((100 * reached) / all)} %)`;
}

/** @param {string[][]} rows the first one is the head */
function markdown(rows) {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const lines = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}

/** @param {string} text */
export function writeTable(text) {
  const [before, rest] = readFileSync(readme, 'utf8').split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Problem(`${readme} has no ${begin} … ${end}`);
  writeFileSync(readme, `${before}${begin}\n\n${text}\n\n${end}${after}`);
}
