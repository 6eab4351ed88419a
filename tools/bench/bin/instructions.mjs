// How many instructions a message of 64 bytes costs both of its ends within one process, by callgrind. Unlike a time, the
// figure is the same on a busy machine, so that it shows what a change gained. The cost of the start is taken out: each
// program runs twice, with different numbers of messages.
//
//     node tools/bench/bin/instructions.mjs               a table
//     node tools/bench/bin/instructions.mjs --functions   and the functions in which the instructions are
//
// It needs valgrind. What system calls do in the kernel is not counted, nor how long a memory access waits.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dropInDirectory } from '@verbs/soft';

const MESSAGES = 8000;
const FUNCTIONS = 40;
const DEVICES = 'soft0,link=process,mtu=4096;soft1,link=process,mtu=4096';
/** @type {[string, string, string[]][]} */
const CASES = [
  ['RDMA WRITE, lists of 32', 'local_stream', ['-l', '32']],
  ['RDMA WRITE, one a call', 'local_stream', ['-l', '1']],
  ['SEND, lists of 32', 'local_sends', ['-l', '32']],
  ['SEND, one a call', 'local_sends', ['-l', '1']],
];

const programs = join(import.meta.dirname, '../build/bin');
const dropIn = dropInDirectory([]);
const scratch = mkdtempSync(join(tmpdir(), 'verbs-instructions-'));

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
 * @param {string} program
 * @param {string[]} args
 * @param {number} count
 */
function profile(program, args, count) {
  const file = join(scratch, `${program}.${String(count)}`);
  const command = ['--tool=callgrind', `--callgrind-out-file=${file}`, join(programs, program)];
  run('valgrind', [...command, ...args, '-n', String(count)], {
    ...process.env,
    LD_LIBRARY_PATH: dropIn,
    VERBS_SOFT: DEVICES,
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

try {
  for (const [title, program, args] of CASES) {
    const few = profile(program, args, MESSAGES);
    const each = [...profile(program, args, 2 * MESSAGES)]
      .map(([name, count]) => ({ name, count: (count - (few.get(name) ?? 0)) / MESSAGES }))
      .sort((a, b) => b.count - a.count);
    const sum = each.reduce((total, { count }) => total + count, 0);
    console.log(`${title.padEnd(26)}${sum.toFixed(0).padStart(7)} instructions a message`);
    if (!process.argv.includes('--functions')) continue;
    for (const { name, count } of each.slice(0, FUNCTIONS)) console.log(`${count.toFixed(1).padStart(10)}  ${name}`);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
