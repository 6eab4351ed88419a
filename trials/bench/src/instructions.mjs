// How many instructions a message of 64 bytes costs both of its ends, by callgrind. Unlike a time, the
// figure is the same on a busy machine. The cost of the start is taken out: each program runs twice, with different
// numbers of messages. What system calls do in the kernel is not counted, nor how long a memory access waits. Time goes
// by readings of the clock (native/local/call_clock.c): the NIC has no more timers due than without callgrind.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dropInDirectory } from '@verbs/soft';

const MESSAGES = 8000;
const WITHIN = 'soft0,link=process,mtu=4096;soft1,link=process,mtu=4096';
// Through the rings of two processes, with both ends in one: so nobody waits for the other, and no poll is in vain.
const SHARED = 'soft0,link=shm,mtu=4096;soft1,link=shm,mtu=4096';
const programs = join(import.meta.dirname, '../build/bin');
const figuresFile = join(import.meta.dirname, '../instructions.json');
const softBuild = join(import.meta.dirname, '../../../packages/soft/build/CMakeFiles');

/**
 * A row may rise by this share before the check fails: libraries and processors differ a little. Through shared memory,
 * looks at sockets and the helper's ticks are in the figure. SEND, one a call, has one of two: 3,400 where the helper of the NIC comes
 * to see in time that the program polls, so that an acknowledgement leaves with the next request, else 4,000. The larger one
 * is committed.
 *
 * @param {string} title
 */
export const toleranceOf = (title) => (title.endsWith('shared memory') ? 0.06 : 0.03);

/** @type {Record<string, { devices: string, program: string, args: string[] }>} */
const rows = {
  'RDMA WRITE, lists of 32': { devices: WITHIN, program: 'local_stream', args: ['-l', '32'] },
  'RDMA WRITE, one a call': { devices: WITHIN, program: 'local_stream', args: ['-l', '1'] },
  'SEND, lists of 32': { devices: WITHIN, program: 'local_sends', args: ['-l', '32'] },
  'SEND, one a call': { devices: WITHIN, program: 'local_sends', args: ['-l', '1'] },
  'RDMA WRITE, lists of 32, shared memory': { devices: SHARED, program: 'local_stream', args: ['-l', '32'] },
  'RDMA WRITE, one a call, shared memory': { devices: SHARED, program: 'local_stream', args: ['-l', '1'] },
  'SEND, lists of 32, shared memory': { devices: SHARED, program: 'local_sends', args: ['-l', '32'] },
  'SEND, one a call, shared memory': { devices: SHARED, program: 'local_sends', args: ['-l', '1'] },
};

/**
 * @typedef {{ compiler: string, rows: Record<string, number> }} Figures the committed figures, and what built the NIC then
 * @typedef {{ title: string, sum: number, functions: { name: string, count: number }[] }} Row
 */

/** @returns {Figures} */
export function committedFigures() {
  return JSON.parse(readFileSync(figuresFile, 'utf8'));
}

/** @param {Row[]} counted */
export function commitFigures(counted) {
  const figures = {
    compiler: compiler(),
    rows: Object.fromEntries(counted.map(({ title, sum }) => [title, Math.round(sum)])),
  };
  writeFileSync(figuresFile, `${JSON.stringify(figures, null, 2)}\n`);
}

/** Of the NIC, with the part of its version that decides over the code. */
function compiler() {
  for (const folder of readdirSync(softBuild)) {
    if (!/^\d/.test(folder)) continue;
    const text = readFileSync(join(softBuild, folder, 'CMakeCXXCompiler.cmake'), 'utf8');
    const value = (/** @type {string} */ name) => new RegExp(`${name} "([^"]*)"`).exec(text)?.[1] ?? '';
    return `${value('CMAKE_CXX_COMPILER_ID')} ${value('CMAKE_CXX_COMPILER_VERSION').split('.')[0] ?? ''} ${process.arch}`;
  }
  return 'none';
}

/** Why the figures cannot be compared here; undefined if they can. */
export function whyNotCompared() {
  const { status, error } = spawnSync('valgrind', ['--version'], { stdio: 'ignore' });
  if (error || status !== 0) return 'no valgrind; on Debian: apt-get install valgrind';
  const { compiler: theirs } = committedFigures();
  return compiler() === theirs ? undefined : `the figures are of ${theirs}, and the NIC was built by ${compiler()}`;
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 */
function run(command, args, env) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', env, maxBuffer: 1 << 28 });
  if (error) throw new Error(`${command}: ${error.message}; on Debian: apt-get install valgrind`);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  return stdout;
}

/**
 * The instructions of each function.
 *
 * @param {string} scratch
 * @param {typeof rows[string]} row
 * @param {number} count
 */
function profile(scratch, { devices, program, args }, count) {
  const file = join(scratch, `${program}.${String(count)}`);
  const command = ['--tool=callgrind', `--callgrind-out-file=${file}`, join(programs, program)];
  run('valgrind', [...command, ...args, '-n', String(count)], {
    ...process.env,
    LD_LIBRARY_PATH: dropInDirectory([]),
    LD_PRELOAD: join(programs, 'libcall_clock.so'),
    VERBS_SOFT: devices,
  });
  /** @type {Map<string, number>} */
  const functions = new Map();
  for (const line of run('callgrind_annotate', ['--auto=no', '--threshold=100', file]).split('\n')) {
    const [, number, name] = /^\s*([\d,]+) \(\s*[\d.]+%\)\s+[^:]+:(.*)$/.exec(line) ?? [];
    if (number === undefined || name === undefined) continue;
    const short = name.replace(/ \[.*\]$/, '').replaceAll('verbs::soft::', '');
    functions.set(short, (functions.get(short) ?? 0) + Number(number.replaceAll(',', '')));
  }
  return functions;
}

/**
 * @param {readonly string[]} [titles] of the rows to count; all, if not given
 * @returns {Row[]}
 */
export function countInstructions(titles = Object.keys(rows)) {
  const scratch = mkdtempSync(join(tmpdir(), 'verbs-instructions-'));
  try {
    return titles.map((title) => {
      const row = rows[title];
      if (row === undefined) throw new Error(`there is no row ${title}`);
      const few = profile(scratch, row, MESSAGES);
      const functions = [...profile(scratch, row, 2 * MESSAGES)]
        .map(([name, count]) => ({ name, count: (count - (few.get(name) ?? 0)) / MESSAGES }))
        .sort((a, b) => b.count - a.count);
      return { title, sum: functions.reduce((total, { count }) => total + count, 0), functions };
    });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
