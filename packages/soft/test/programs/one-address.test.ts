// Programs in several languages, their servers and clients, all at one address at the same time: in C (ibverbs-utils,
// perftest, rdmacm-utils, UCX), C++, Python and TypeScript. What each tells of itself has counted.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Machine, machineFor, processes } from '../../src/index.js';
import { describe, freePort, type Program, startIn } from './program.js';

const packages = join(import.meta.dirname, '../../..');
const address = `127.206.${String((process.pid >> 8) & 255)}.${String(process.pid & 255)}`;
const configuration = `soft0,addr=${address}`;
let machine: Machine;

beforeAll(() => {
  const built = join(packages, 'rdmacm/build/lib');
  const library = join(built, 'libverbs-soft-rdmacm.so.1');
  if (!existsSync(library)) throw new Error(`${library} is not built: npm run setup`);
  machine = machineFor([{ kind: 'rdmacm', library, dropIn: join(built, 'dropin') }]);
});

afterAll(() => {
  machine.remove();
});

interface Pair {
  /** As `ps` shows it. */
  name: string;
  server: string[];
  /** What the server prints when a client may come; without it clients come again until the server is there. */
  listens?: RegExp;
  client: (server: Program) => string[];
  /** The server serves more clients. */
  stays?: boolean;
}

const words = (text: string) => text.split(' ');
/** Few: some of the programs poll, more of them than there are processors. ibv_rc_pingpong sleeps, and must be there to be seen. */
const ROUNDS = '100';
const hasUcx = existsSync('/usr/bin/ucx_perftest');

async function pairs(): Promise<Pair[]> {
  const port = Array.from({ length: 5 }, freePort);
  const [pingpong, perftest, rping, python, ucx] = (await Promise.all(port)).map(String);
  const node = [process.execPath, join(packages, 'core/test/programs/two-hosts.mjs')];
  const script = join(import.meta.dirname, 'pingpong.py');
  const pair = (command: string, more: Partial<Pair> & { to?: string } = {}): Pair => {
    const [name = '', ...rest] = words(command);
    const { to = ` ${address}`, ...others } = more;
    return { name, server: [name, ...rest], client: () => [name, ...rest, ...words(to).filter(Boolean)], ...others };
  };
  return [
    pair(`ibv_rc_pingpong -g 0 -n 20000 -e -c -p ${pingpong}`),
    pair(`ib_send_bw -F -d soft0 -x 0 -n 500 -e -p ${perftest}`),
    {
      name: 'rping',
      server: words(`rping -s -a ${address} -p ${rping} -C 200 -v`),
      client: () => words(`rping -c -a ${address} -p ${rping} -C 200 -V`),
    },
    {
      name: 'python3',
      server: ['/usr/bin/python3', script, String(python), ROUNDS],
      listens: /listening/,
      client: () => ['/usr/bin/python3', script, String(python), ROUNDS, address],
    },
    {
      name: 'node',
      server: [...node, 'server'],
      listens: /^\d+ \d+\n/,
      client: ({ stdout }) => [...node, 'client', address, ...words(stdout.trim())],
    },
    ...(hasUcx ? [pair(`ucx_perftest -t tag_lat -n 200 -w 10 -p ${ucx}`)] : []),
  ];
}

test('programs in several languages share an address, servers and clients', { timeout: 120_000 }, async () => {
  const start = ([name = '', ...args]: string[]) => {
    // UCX looks for devices in /sys, and would take its own ways within a machine.
    const forUcx = { ...machine.environment, UCX_TLS: 'rc_v,ud_v', UCX_NET_DEVICES: 'soft0:1' };
    const environment = Object.entries(forUcx).map((pair) => pair.join('='));
    // Debian 13 builds it with MPI: without a terminal it takes itself for one of its ranks.
    const atTerminal = ['script', '--quiet', '--return', '--command', [name, ...args].join(' '), '/dev/null'];
    const command = name === 'ucx_perftest' ? ['env', ...environment, ...atTerminal] : [name, ...args];
    const [program = '', ...rest] = command;
    return startIn(String(machine.environment['LD_LIBRARY_PATH']), program, rest, configuration);
  };
  const giveUp = Date.now() + 60_000;
  const meet = async ({ server: command, listens, client, stays }: Pair) => {
    const server = start(command);
    if (listens) await server.printed(listens);
    let outcome = await start(client(server)).ended;
    while (outcome.status !== 0 && server.process.exitCode === null && Date.now() < giveUp) {
      await sleep(100);
      outcome = await start(client(server)).ended;
    }
    expect(outcome.status, `${command.join(' ')}\n${describe(outcome)}${server.stdout}${server.stderr}`).toBe(0);
    if (stays) return;
    const ended = await server.ended;
    expect(ended.status, `${command.join(' ')}\n${describe(ended)}`).toBe(0);
  };
  const all = await pairs();
  // Ten processes more, each connected with all others, of which three are killed.
  const ten = start([join(packages, 'soft/build/sharing_processes'), '--kills', '3']);
  const outlast = async (program: Program) => {
    const outcome = await program.ended;
    expect(outcome.status, describe(outcome)).toBe(0);
  };
  const over = Promise.all([...all.map(meet), outlast(ten)]);
  /** The processes at the address that have sent something, by name. */
  const seen = new Map<string, Set<number>>();
  const look = () => {
    for (const { pid, program, devices } of processes()) {
      const sends = devices.some(
        ({ ports, counters }) => ports[0]?.gid === `::ffff:${address}` && (counters['sent_pkts'] ?? 0n) > 0n,
      );
      if (sends) seen.set(program, (seen.get(program) ?? new Set()).add(pid));
    }
  };
  const looking = setInterval(look, 20);
  const unseen = () => all.filter(({ name }) => (seen.get(name)?.size ?? 0) < 2);
  try {
    await over;
    // On a busy machine a short program ends between two looks: once more, then.
    while (unseen().length > 0 && Date.now() < giveUp) await Promise.all(unseen().map(meet));
  } finally {
    clearInterval(looking);
  }
  expect(unseen()).toEqual([]);
  expect(seen.get('sharing_process')?.size).toBeGreaterThanOrEqual(10);
});
