// Addresses of IPv6, within a process and between two hosts.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { describeTwoHosts, type Host } from '../../core/test/shared/two-hosts.js';
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
describeTwoHosts(8, (there, here) => {
  const local = (host: Host) => (host === there ? 'fe80::8:1' : 'fe80::8:2');

  beforeAll(() => {
    for (const host of [there, here]) {
      // In place of the kernel's own link-local address, which it tries out for a second.
      host.ip('link', 'set', 'eth0', 'addrgenmode', 'none');
      host.ip('-6', 'addr', 'flush', 'dev', 'eth0', 'scope', 'link');
      host.ip('addr', 'add', `${local(host)}/64`, 'dev', 'eth0', 'nodad');
    }
  });

  const command = ({ wrap: [command = '', ...rest] }: Host, args: string[]): [string, string[]] => [
    command,
    [...rest, process.execPath, '--no-warnings', program, ...args],
  ];
  const environment = (host: Host) => ({
    ...process.env,
    VERBS_SOFT: `soft0,addr=${host.ipv6},addr=${local(host)}`,
  });

  it('connects by global and by link-local addresses, and tells why by others it does not', async () => {
    const service = spawn(...command(there, ['listen']), {
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
      return (await promisify(execFile)(...command(here, ['connect', host, said.trim()]), options)).stdout.trim();
    };
    expect(await ask(there.ipv6)).toBe(`far away ${here.ipv6} ${there.ipv6}`);
    expect(await ask(`${local(there)}%eth0`)).toBe(`far away ${local(here)} ${local(there)}`);
    expect(await ask(local(there))).toMatch(/^ADDR_ERROR: .*: a link-local address needs the network interface/);
    expect(await ask('192.0.2.1')).toMatch(
      /^ADDR_ERROR: .*: no RDMA device has an address of IPv4; addr= in VERBS_SOFT/,
    );
  }, 120_000);
});
