// Processes of programs in several languages at one address, each connected with all others:
// languages.mjs INDEX COMMANDS [ROUNDS [SEED]]. INDEX: of the GID. COMMANDS: a list of commands as JSON. With ROUNDS others
// disturb them, as chaos does, for times that the seed decides: a peer stands still for a while, a strange process at the
// same address is killed, a debugger comes.
// ../languages/README.md has what they say to each other.
import { spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { on, once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { processes } from '@verbs/soft';
import { Random } from '../../chaos/src/random.mjs';
import { debug } from '../../chaos/src/harness/debugger.mjs';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../../../tools/setup/src/paths.mjs';

const [index = '', commands = '', disturbedRounds, seed = String(randomInt(2 ** 32))] = process.argv.slice(2);
const ROUNDS = Number(disturbedRounds ?? 50);
/** A peer may stand still for less than the retries of a connection take (timeout 14, 7 times). */
const STILL_MS = 300;
const random = new Random(Number(seed));
/** @type {string[][]} */
const all = JSON.parse(commands);

class Peer {
  /** @param {string[]} command @param {number} number */
  constructor(command, number) {
    this.command = command;
    const [program, ...args] = [
      command[0] ?? '',
      ...command.slice(1),
      String(number),
      String(all.length),
      index,
      String(ROUNDS),
    ];
    this.child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    /** @type {Promise<number | null>} */
    this.ended = new Promise((resolve) => {
      this.child.once('close', resolve);
      this.child.once('error', (error) => {
        console.error(`${program}: ${error.message}`);
        resolve(127);
      });
    });
    const lines = createInterface(this.child.stdout);
    /** @type {AsyncIterator<string[]>} */
    this.lines = on(lines, 'line', { close: ['close'] });
  }

  /** The words behind the first one of its next line. @param {string} first */
  async says(first) {
    const { value, done } = await this.lines.next();
    const [word, ...rest] = done === true ? [] : (value[0] ?? '').split(' ');
    if (word !== first) throw new Error(`${this.command.join(' ')}: ${word} instead of ${first}`);
    return rest;
  }

  /** @param {string} line */
  hear(line) {
    this.child.stdin.write(`${line}\n`);
  }
}

/**
 * Disturbs the peers until `end`, each time in one of three ways, and says how often.
 * @param {Promise<unknown>} end
 */
async function disturbUntil(end) {
  const count = { stops: 0, kills: 0, debuggers: 0, over: false };
  const noted = () => (count.over = true);
  end.then(noted, noted);
  for (let turn = 0; !count.over; turn++) {
    const { child } = /** @type {Peer} */ (peers[turn % peers.length]);
    if (turn % 3 === 0) {
      child.kill('SIGSTOP');
      await sleep(random.below(STILL_MS));
      child.kill('SIGCONT');
      count.stops++;
    } else if (turn % 3 === 1) {
      await killStrangers();
      count.kills += 2;
    } else {
      await debug(child.pid ?? 0, random.below(STILL_MS));
      count.debuggers++;
    }
    await sleep(20);
  }
  return `${count.stops} stops, ${count.kills} kills beside them, ${count.debuggers} debuggers, seed ${seed}`;
}

/** Two more processes of the address, which talk, and are killed as they do. */
async function killStrangers() {
  // Line by line, so that what it prints first tells that it has its queue pair.
  const args = ['-oL', 'ibv_rc_pingpong', '-g', index, '-n', '1000000'];
  const start = async (/** @type {string[]} */ host) => {
    const child = spawn('stdbuf', [...args, ...host], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    await sleep(50 + random.below(100));
    return { child, ended };
  };
  const strangers = [await start([]), await start(['localhost'])];
  for (const { child } of strangers) child.kill('SIGKILL');
  await Promise.all(strangers.map(({ ended }) => ended));
}

const peers = all.map((command, number) => new Peer(command, number));
process.once('exit', () => {
  for (const { child } of peers) child.kill('SIGKILL');
});
const said = await Promise.all(peers.map((peer) => peer.says('ready')));
const gids = new Set(said.map(([gid = '']) => new URL(`http://[${gid}]`).hostname));
if (gids.size !== 1) throw new Error(`there are several addresses: ${[...gids].join(', ')}`);
peers.forEach((peer, number) => {
  // Of each process its queue pair for this one: behind the GID.
  peer.hear(`peers ${said.map((words) => words[1 + number]).join(' ')}`);
});
await Promise.all(peers.map((peer) => peer.says('connected')));
for (const peer of peers) peer.hear('go');
const messages = ROUNDS * (peers.length - 1);
const finished = Promise.all(peers.map((peer) => peer.says('done')));
if (disturbedRounds !== undefined) console.error(`seed ${seed}`); // also of a run that fails
const disturbed = disturbedRounds === undefined ? '' : `, ${await disturbUntil(finished)}`;
for (const [number, [came]] of (await finished).entries()) {
  if (Number(came) !== messages) throw new Error(`${all[number]?.join(' ')}: ${came} of ${messages} messages`);
}

// All are there still.
const reports = processes();
const top = spawnSync(process.execPath, [join(root, 'packages/cli/bin/verbs.mjs'), 'top'], { encoding: 'utf8' });
for (const { child, command } of peers) {
  const device = reports.find(({ pid }) => pid === child.pid)?.devices[0];
  const counted = ['sent_pkts', 'rcvd_pkts'].map((name) => Number(device?.counters[name] ?? 0));
  const wrong = counted.some((count) => count < messages) || device?.queuePairCount !== peers.length - 1;
  if (wrong)
    throw new Error(`${command.join(' ')}: ${counted.join(' and ')} packets, ${device?.queuePairCount} queue pairs`);
  if (!top.stdout.includes(`(${child.pid})`)) throw new Error(`verbs top does not show ${command.join(' ')}`);
}
for (const { child } of peers) child.stdin.end();
const statuses = await Promise.all(peers.map(({ ended }) => ended));
if (statuses.some((status) => status !== 0)) throw new Error(`they ended with ${statuses.join(', ')}`);
console.log(`${peers.length} processes at ${[...gids].join('')}, ${peers.length * messages} messages${disturbed}`);
process.exit(0);
