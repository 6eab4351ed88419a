// One end of a live migration of QEMU over RDMA: migration.mjs target|source URI FOLDER [CAPABILITY]. The source has 32 MiB
// that it was given and 128 pages that its guest writes all the time. The target looks whether it has all of both, and
// whether its guest goes on.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { bootDisk, firstPage, pageCount, pageSize, rounds } from './pages.mjs';

const MIB = 1 << 20;
const given = { address: 16 * MIB, size: 32 * MIB };

/** The same bytes at both ends: a stream of digests. */
function givenBytes() {
  const bytes = Buffer.alloc(given.size);
  for (let i = 0; i < given.size; i += 32) createHash('sha256').update(String(i)).digest().copy(bytes, i);
  return bytes;
}

/**
 * What QEMU returns.
 * @typedef {object} Returned
 * @property {boolean} [running]
 * @property {string} [status]
 * @property {string} [error-desc]
 * @property {Record<string, number>} [ram]
 */

/** @typedef {{ return?: Returned, error?: { desc: string } }} Answer */

class Machine {
  /** @type {((answer: Answer) => void)[]} */
  #waiting = [];

  /** @param {string} folder @param {string[]} more */
  constructor(folder, more) {
    const disk = join(folder, 'boot.img');
    writeFileSync(disk, bootDisk());
    this.child = spawn(
      'qemu-system-x86_64',
      [
        ...['-machine', 'pc,accel=tcg', '-m', '96', '-nodefaults', '-display', 'none', '-qmp', 'stdio'],
        ...['-drive', `file=${disk},format=raw,if=floppy`, '-boot', 'a', ...more],
      ],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    process.once('exit', () => this.child.kill());
    createInterface(this.child.stdout).on('line', (line) => {
      if (!line.startsWith('{')) return; // its RDMA code prints there, too
      /** @type {Answer} */
      const message = JSON.parse(line);
      if ('return' in message || 'error' in message) this.#waiting.shift()?.(message);
    });
  }

  /** @param {string} execute @param {object} [args] @returns {Promise<Returned>} */
  async ask(execute, args = {}) {
    this.child.stdin.write(`${JSON.stringify({ execute, arguments: args })}\n`);
    /** @type {Answer} */
    const answer = await new Promise((resolve) => this.#waiting.push(resolve));
    if (answer.error !== undefined) throw new Error(`${execute}: ${answer.error.desc}`);
    return answer.return ?? {};
  }

  /** @param {string} folder @param {{ address: number, size: number }} range of physical memory */
  async memory(folder, { address, size }) {
    const filename = join(folder, 'memory');
    await this.ask('pmemsave', { val: address, size, filename });
    return readFileSync(filename);
  }
}

const pages = { address: firstPage, size: pageCount * pageSize };

/** @param {Machine} machine @param {string} folder */
async function roundsOf(machine, folder) {
  await machine.ask('stop');
  const count = rounds(await machine.memory(folder, pages));
  await machine.ask('cont');
  return count;
}

/** @param {Machine} machine @param {string} folder @param {number} than */
async function untilMore(machine, folder, than) {
  for (;;) {
    const count = await roundsOf(machine, folder);
    if (count > than) return count;
    await sleep(100);
  }
}

/** @param {Machine} machine @param {string} capability */
async function begin(machine, capability) {
  await machine.ask('qmp_capabilities');
  const capabilities = capability === '' ? [] : [{ capability, state: true }];
  await machine.ask('migrate-set-capabilities', { capabilities });
}

/** @param {string} uri @param {string} folder @param {string} capability */
async function target(uri, folder, capability) {
  const machine = new Machine(folder, ['-incoming', 'defer']);
  await begin(machine, capability);
  await machine.ask('migrate-incoming', { uri });
  console.log('ready');
  while ((await machine.ask('query-status')).running !== true) await sleep(50);
  const count = await roundsOf(machine, folder);
  const bytes = await machine.memory(folder, given);
  if (!bytes.equals(givenBytes())) throw new Error('the memory that the source was given is another one');
  console.log(`32 MiB came, and ${count} rounds; then there were ${await untilMore(machine, folder, count)}`);
  machine.child.kill();
}

/** @param {string} uri @param {string} folder @param {string} capability */
async function source(uri, folder, capability) {
  const file = join(folder, 'given');
  writeFileSync(file, givenBytes());
  const loader = `loader,file=${file},addr=${given.address},force-raw=on`;
  const machine = new Machine(folder, ['-device', loader]);
  await begin(machine, capability);
  await untilMore(machine, folder, 100);
  await machine.ask('migrate-set-parameters', { 'max-bandwidth': 1 << 30 });
  await machine.ask('migrate', { uri });
  for (;;) {
    const { status, ram, 'error-desc': reason } = await machine.ask('query-migrate');
    if (status === 'failed') throw new Error(`the migration failed: ${reason}`);
    if (status === 'completed') {
      console.log(`completed: ${ram?.['transferred']} bytes, ${ram?.['dirty-sync-count']} passes`);
      break;
    }
    await sleep(50);
  }
  machine.child.kill();
}

const [role = '', uri = '', folder = '', capability = ''] = process.argv.slice(2);
const own = mkdtempSync(join(folder, `${role}-`));
await (role === 'source' ? source(uri, own, capability) : target(uri, own, capability));
process.exit(0);
