import { addresses } from './namespace.mjs';
import { softConfiguration, startOnSoft } from './host.mjs';
import { direction, freePort } from './pairing.mjs';

/** @import { Ended, Guest, Running } from './guest.mjs' */
/** @import { Family } from './host.mjs' */
/** @import { Result } from './pairing.mjs' */

/**
 * Debian's programs, with the arguments of both ends. `gid` and `port` are the options for the GID's index and the TCP
 * port.
 * @type {{ name: string, command: string[], gid: string }[]}
 */
const programs = [
  { name: 'ibv_rc_pingpong', command: ['ibv_rc_pingpong', '-c', '-m', '1024', '-n', '200', '-s', '5000'], gid: '-g' },
  { name: 'ibv_rc_pingpong -e', command: ['ibv_rc_pingpong', '-c', '-e', '-m', '4096', '-n', '100'], gid: '-g' },
  { name: 'ibv_uc_pingpong', command: ['ibv_uc_pingpong', '-m', '1024', '-n', '100', '-s', '2000'], gid: '-g' },
  { name: 'ibv_ud_pingpong', command: ['ibv_ud_pingpong', '-n', '100', '-s', '1000'], gid: '-g' },
  { name: 'ibv_srq_pingpong', command: ['ibv_srq_pingpong', '-m', '1024', '-n', '200', '-q', '4'], gid: '-g' },
  ...['send', 'write'].flatMap((operation) => [
    perftest(`ib_${operation}_lat`, ['-s', '64', '-n', '200']),
    perftest(`ib_${operation}_bw`, ['-s', '65536', '-n', '200']),
    perftest(`ib_${operation}_lat`, ['-s', '1000', '-n', '100', '-c', 'UC']),
  ]),
  perftest('ib_send_lat', ['-s', '1000', '-n', '100', '-c', 'UD']),
  perftest('ib_send_bw', ['-s', '4096', '-n', '200', '-b']),
  perftest('ib_send_bw', ['-s', '4096', '-n', '200', '-q', '4']),
  perftest('ib_read_lat', ['-s', '64', '-n', '200']),
  perftest('ib_read_bw', ['-s', '65536', '-n', '200']),
  perftest('ib_read_bw', ['-s', '65536', '-n', '200', '-o', '1']),
  perftest('ib_atomic_lat', ['-n', '200']),
  perftest('ib_atomic_bw', ['-n', '200', '-A', 'CMP_AND_SWAP']),
];

/**
 * @param {string} program
 * @param {string[]} args
 */
function perftest(program, args) {
  return { name: [program, ...args].join(' '), command: [program, ...args, '-F'], gid: '-x' };
}

/** For a program that hangs. */
const limit = 300_000;

/**
 * Runs every program between our NIC and rxe, with either end as the server.
 * @param {Guest} guest
 * @param {{ family: Family, only: string, each: (result: Result) => void }} options
 */
export async function runPrograms(guest, { family, only, each }) {
  const theirGid = await gidIndex(guest, family);
  for (const { name, command, gid } of programs.filter((program) => program.name.includes(only))) {
    for (const oursIsActive of [true, false]) {
      const failure = await runPair(guest, [...command, gid], family, theirGid, oursIsActive);
      each({ part: 'programs', name, family, direction: direction(oursIsActive), failure });
    }
  }
}

/**
 * @param {Guest} guest
 * @param {string[]} command
 * @param {Family} family
 * @param {string} theirGid
 * @param {boolean} oursIsActive
 * @returns {Promise<string | null>} why it failed
 */
async function runPair(guest, command, family, theirGid, oursIsActive) {
  const number = freePort();
  const port = ['-p', String(number)];
  const server = oursIsActive ? addresses.guest[4] : addresses.host[4];
  const ours = () =>
    startOnSoft(
      [...command, '0', '-d', 'soft0', ...port, ...(oursIsActive ? [server] : [])],
      softConfiguration(family),
    );
  const theirs = () => guest.start([...command, theirGid, '-d', 'rxe0', ...port, ...(oursIsActive ? [] : [server])]);
  const listening = untilListening(number);
  return await runBoth({
    server: oursIsActive ? theirs() : ours(),
    ready: oursIsActive ? guest.run(listening) : startOnSoft(listening, '').ended,
    client: oursIsActive ? ours : theirs,
    isGood: ({ status }) => status === 0,
  });
}

/**
 * Runs a server's client as soon as the server is ready, and both to their ends.
 * @param {{ server: Running, ready: Promise<unknown>, client: () => Running, isGood: (ended: Ended) => boolean }} ends
 * @returns {Promise<string | null>} why it failed
 */
export async function runBoth({ server, ready, client, isGood }) {
  await ready;
  const second = client();
  const timer = setTimeout(() => {
    server.kill();
    second.kill();
  }, limit);
  const asked = await second.ended;
  if (asked.status !== 0) setTimeout(server.kill, 2_000).unref();
  const served = await server.ended;
  clearTimeout(timer);
  if (isGood(asked) && isGood(served)) return null;
  const said = [asked, served].map((end) => `${end.status ?? end.signal ?? ''} ${end.stderr.trim().slice(-200)}`);
  return `client: ${said[0] ?? ''}; server: ${said[1] ?? ''}`.replaceAll('\n', ' ');
}

/**
 * A command that ends when somebody listens at the TCP port of its own side, or after two minutes.
 * @param {number} port
 */
function untilListening(port) {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const script = `i=0; until grep -q ":${hex} .* 0A " /proc/net/tcp /proc/net/tcp6 || [ $i = 2400 ]; do sleep 0.05; i=$((i + 1)); done`;
  return ['sh', '-c', script];
}

/**
 * The index of the guest's GID of its address.
 * @param {Guest} guest
 * @param {Family} family
 */
async function gidIndex(guest, family) {
  const folder = '/sys/class/infiniband/rxe0/ports/1/gids';
  const text = await guest.must(['sh', '-c', `cd ${folder}; grep . 0 1 2 3 4 5`]);
  const wanted = family === 4 ? ':ffff:0a4d:0002' : 'fd77:';
  const line = text.split('\n').find((entry) => entry.includes(wanted)) ?? '';
  return line.split(':')[0] ?? '';
}
