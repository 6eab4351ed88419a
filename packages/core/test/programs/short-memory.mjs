// Creates objects until the memory of the process is at its limit: short-memory.mjs MODULE. The module's default function
// gives the ways to make one. Prints what each attempt that failed threw, and whether one succeeds without the limit.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const MOST = 4000;
// Room for JavaScript itself, whose own failed allocations end the process.
const ROOM = 192 * 2 ** 20;

// A process of its own: at the limit none can be started.
const shell = spawn('sh', { stdio: ['pipe', 'pipe', 'inherit'] });
async function limit(bytes) {
  shell.stdin.write(`prlimit --pid ${process.pid} --as=${bytes}:unlimited; echo done\n`);
  await once(shell.stdout, 'data');
}
const { default: waysToMake } = await import(pathToFileURL(resolve(process.argv[2])).href);
const ways = await waysToMake();
for (const make of Object.values(ways)) make().close();

const failed = {};
for (const [name, make] of Object.entries(ways)) {
  const made = [];
  const pages = Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[0]);
  await limit(pages * 4096 + ROOM);
  let thrown;
  for (let i = 0; i < MOST && thrown === undefined; i++) {
    try {
      made.push(make());
    } catch (error) {
      thrown = error;
    }
  }
  await limit('unlimited');
  failed[name] = thrown === undefined ? 'none' : `${thrown.name} ${thrown.code}`;
  // What failed left nothing that is in the way.
  for (const each of made) each.close();
  make().close();
}
console.log(JSON.stringify(failed));
process.exit(0);
