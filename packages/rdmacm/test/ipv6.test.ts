// Addresses of IPv6, within a process and between two network namespaces.
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { connect, type ConnectOptions, type ListenOptions } from '../src/index.js';
import { keep, portOf, send, server } from './helpers/connections.js';

// Without sockets: another process may have the addresses.
process.env['VERBS_SOFT'] = 'soft0,link=process,addr=127.44.0.1,addr=::1';

/** The two ends of a connection to a listener: the connecting one first. */
async function between(listening: ListenOptions, connecting: Partial<ConnectOptions>) {
  const at = server(listening);
  const accepted = at.request().then((request) => request.accept());
  const one = keep(await connect({ port: portOf(at), library: 'soft', ...connecting }));
  return [one, keep(await accepted)] as const;
}

it.each<[string, ListenOptions, Partial<ConnectOptions>, string]>([
  ['::1', { host: '::1' }, { host: '::1' }, '::1'],
  ['::1, at a listener for every address', {}, { host: '0:0::1' }, '::1'],
  ['::1, at one for IPv6 only', { host: '::', ipv6Only: true }, { host: '::1', localAddress: '::1' }, '::1'],
  ['an address of IPv4 in the form of IPv6', { host: '127.44.0.1' }, { host: '::ffff:127.44.0.1' }, '127.44.0.1'],
  ['the same in hexadecimal', {}, { host: '::FFFF:7f2c:1', localAddress: '::ffff:127.44.0.1' }, '127.44.0.1'],
  ['the same, at a listener for it', { host: '::ffff:127.44.0.1' }, { host: '127.44.0.1' }, '127.44.0.1'],
])('connects to %s', async (_name, listening, connecting, address) => {
  const [one, other] = await between(listening, connecting);
  expect(await send(one, other, 'there')).toBe('there');
  expect(await send(other, one, 'and back')).toBe('and back');
  for (const each of [one.localAddress, one.remoteAddress]) expect(each?.address).toBe(address);
  expect(one.remoteAddress).toEqual(other.localAddress);
  expect(one.localAddress).toEqual(other.remoteAddress);
});

it.each([
  ['fe80::9', /^ADDR_ERROR: .* to fe80::9 port 9: a link-local address needs the network interface .* fe80::1%eth0$/],
  ['fe80::9%1', /^ADDR_ERROR: the address was not resolved/],
])('does not resolve %s', async (host, message) => {
  await expect(connect({ host, port: 9, library: 'soft' })).rejects.toThrow(message);
});

it('tells of a network interface that there is not', async () => {
  const message = /^options\.host names no network interface with a link-local address: "nowhere7"$/;
  await expect(connect({ host: 'fe80::1%nowhere7', port: 9, library: 'soft' })).rejects.toThrow(message);
  expect(() => server({ host: 'fe80::1%nowhere7' })).toThrow(message);
});

it('tells of an address of this machine that no device has', () => {
  expect(() => server({ host: '127.44.0.2', port: 9999 })).not.toThrow();
  expect(() => server({ host: '2001:db8::1' })).toThrow(/^EADDRNOTAVAIL: .* no RDMA device has this address/);
});

const program = fileURLToPath(new URL('programs/far-end.mjs', import.meta.url));
const [there, here] = ['there', 'here'].map((name, i) => ({
  namespace: `verbs-cm-${name}-${process.pid}`,
  global: `fd77:44::${i + 1}`,
  local: `fe80::44:${i + 1}`,
})) as [Host, Host];

interface Host {
  namespace: string;
  global: string;
  local: string;
}

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe' });

/** Making a network namespace takes root; the reason is undefined where it works. */
function whyNot(): string | undefined {
  const made = spawnSync('ip', ['netns', 'add', there.namespace], { encoding: 'utf8' });
  if (made.error !== undefined) return made.error.message;
  if (made.status !== 0) return made.stderr.trim();
  ip('netns', 'del', there.namespace);
  return undefined;
}

const reason = whyNot();

describe.skipIf(reason !== undefined)(`two hosts${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  beforeAll(() => {
    for (const { namespace } of [there, here]) ip('netns', 'add', namespace);
    const peer = ['peer', 'name', 'veth0', 'netns', here.namespace];
    ip('-n', there.namespace, 'link', 'add', 'veth0', 'type', 'veth', ...peer);
    for (const { namespace, global, local } of [there, here]) {
      // Else the kernel adds a link-local address of its own, and soon prefers it: no device has that one.
      ip('-n', namespace, 'link', 'set', 'veth0', 'addrgenmode', 'none');
      for (const address of [global, local])
        ip('-n', namespace, 'addr', 'add', `${address}/64`, 'dev', 'veth0', 'nodad');
      ip('-n', namespace, 'link', 'set', 'veth0', 'up');
    }
  });

  afterAll(() => {
    // The veth goes with its ends.
    for (const { namespace } of [there, here]) spawnSync('ip', ['netns', 'del', namespace]);
  });

  const command = ({ namespace }: Host, args: string[]) => [
    ...['netns', 'exec', namespace, process.execPath, '--no-warnings'],
    ...[program, ...args],
  ];
  // What an Ethernet of 1500 bytes carries.
  const environment = ({ global, local }: Host) => ({
    ...process.env,
    VERBS_SOFT: `soft0,addr=${global},addr=${local},mtu=1024`,
  });

  it('connects by global and by link-local addresses, and tells why by others it does not', async () => {
    const service = spawn('ip', command(there, ['listen']), {
      env: environment(there),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(async () => {
      const ended = once(service, 'exit');
      service.kill('SIGKILL');
      await ended;
    });
    const [said] = (await once(service.stdout.setEncoding('utf8'), 'data')) as [string];
    const ask = async (host: string) => {
      const options = { env: environment(here), timeout: 60_000, killSignal: 'SIGKILL' } as const;
      return (await promisify(execFile)('ip', command(here, ['connect', host, said.trim()]), options)).stdout.trim();
    };
    expect(await ask(there.global)).toBe(`far away ${here.global} ${there.global}`);
    expect(await ask(`${there.local}%veth0`)).toBe(`far away ${here.local} ${there.local}`);
    expect(await ask(there.local)).toMatch(/^ADDR_ERROR: .*: a link-local address needs the network interface/);
    expect(await ask('192.0.2.1')).toMatch(
      /^ADDR_ERROR: .*: no RDMA device has an address of IPv4; addr= in VERBS_SOFT/,
    );
  }, 120_000);
});
