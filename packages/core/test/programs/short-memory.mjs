// Creates objects until the memory of the process is at its limit: short-memory.mjs MODULE. The module's default function
// gives the ways to make one. Prints what each attempt that failed threw, and whether one succeeds without the limit.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const MOST = 4000;
// Room for JavaScript itself, whose own failed allocations end the process.
const ROOM = 192 * 2 ** 20;

// A process of its own: at the limit none can be started. It ends with this one.
const folder = mkdtempSync(join(tmpdir(), 'short-memory-'));
const fifo = join(folder, 'orders');
execFileSync('mkfifo', [fifo]);
const orders = openSync(fifo, 'r+');
spawn('sh', { stdio: [openSync(fifo, 'r'), 'inherit', 'inherit'] });
rmSync(folder, { recursive: true });

const sleeper = new Int32Array(new SharedArrayBuffer(4));
// Without a turn of the event loop, in which the garbage collector would run and end the process at its limit.
function limit(bytes) {
  writeSync(orders, `prlimit --pid ${process.pid} --as=${bytes}:unlimited\n`);
  const isThere = new RegExp(`^Max address space +${bytes} `, 'm');
  while (!isThere.test(readFileSync('/proc/self/limits', 'utf8'))) Atomics.wait(sleeper, 0, 0, 1);
}

const { default: waysToMake } = await import(pathToFileURL(resolve(process.argv[2])).href);
const ways = await waysToMake();
for (const make of Object.values(ways)) make().close();

const failed = {};
for (const [name, make] of Object.entries(ways)) {
  const made = [];
  const pages = Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[0]);
  limit(pages * 4096 + ROOM);
  let thrown;
  for (let i = 0; i < MOST && thrown === undefined; i++) {
    try {
      made.push(make());
    } catch (error) {
      thrown = error;
    }
  }
  limit('unlimited');
  failed[name] = thrown === undefined ? 'none' : `${thrown.name} ${thrown.code}`;
  // What failed left nothing that is in the way.
  for (const each of made) each.close();
  make().close();
}
console.log(JSON.stringify(failed));
process.exit(0);
