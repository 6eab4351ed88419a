// A service and a client that share no file system: the host names the DPU's address, and the DPU's representor the host's.
// Each is in a network namespace of its own, at the ends of a veth.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { script, type Program } from './helpers/program.js';

const dpu = { namespace: `verbs-dpu-${process.pid}`, address: '10.213.7.1' };
const host = { namespace: `verbs-host-${process.pid}`, address: '10.213.7.2' };
const stranger = '10.213.7.3';

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe' });

/** Making a network namespace takes root; the reason is undefined where it works. */
function whyNot(): string | undefined {
  const made = spawnSync('ip', ['netns', 'add', dpu.namespace], { encoding: 'utf8' });
  if (made.error !== undefined) return made.error.message;
  if (made.status !== 0) return made.stderr.trim();
  ip('netns', 'del', dpu.namespace);
  return undefined;
}

const reason = whyNot();

describe.skipIf(reason !== undefined)(`two hosts${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  const directories: string[] = [];

  beforeAll(() => {
    for (const { namespace } of [dpu, host]) ip('netns', 'add', namespace);
    ip('-n', dpu.namespace, 'link', 'add', 'veth0', 'type', 'veth', 'peer', 'name', 'veth0', 'netns', host.namespace);
    for (const { namespace, address } of [dpu, host]) {
      ip('-n', namespace, 'addr', 'add', `${address}/24`, 'dev', 'veth0');
      ip('-n', namespace, 'link', 'set', 'veth0', 'up');
    }
    ip('-n', host.namespace, 'addr', 'add', `${stranger}/24`, 'dev', 'veth0');
  });

  afterAll(() => {
    // The veth goes with its ends.
    for (const { namespace } of [dpu, host]) spawnSync('ip', ['netns', 'del', namespace]);
    for (const directory of directories) rmSync(directory, { recursive: true });
  });

  /** With a registry of its own, so that the two find each other by their addresses or not at all. */
  function start(where: { namespace: string }, name: string, args: string[], configuration: string): Program {
    const directory = mkdtempSync(join(tmpdir(), 'verbs-registry-'));
    directories.push(directory);
    // What an Ethernet of 1500 bytes carries.
    const env = { VERBS_SOFT: `${configuration},mtu=1024`, XDG_RUNTIME_DIR: directory };
    const program = script(name, args, env, where.namespace);
    onTestFinished(async () => {
      program.child.kill('SIGKILL');
      await program.ended;
    });
    return program;
  }

  const serve = (name: string) =>
    start(
      dpu,
      'echo.mjs',
      [name],
      `doca_dpu0,kind=doca,role=dpu,addr=${dpu.address},reps=5f5f:3b:00.0@${host.address}`,
    );
  const connect = (name: string, address: string) =>
    start(host, 'ask.mjs', [name, '300'], `doca_host0,kind=doca,role=host,addr=${address},dpu=${dpu.address}`);

  test('messages go back and forth, and a service that dies is found anew', async () => {
    for (const round of [1, 2]) {
      const service = serve('far');
      await service.says('listening');
      const client = connect('far', host.address);
      expect([await client.ended, client.output()], `round ${round}`).toEqual([0, '300 answers\n']);
      service.child.kill('SIGKILL');
      await service.ended;
    }
  }, 60_000);

  test('a client from another address than the representor names is refused, and an unknown service is', async () => {
    const service = serve('picky');
    await service.says('listening');
    const refused = connect('picky', stranger);
    expect([await refused.ended, refused.output()]).toEqual([1, 'DOCA_ERROR_CONNECTION_ABORTED\n']);
    const unknown = connect('nobody', host.address);
    expect([await unknown.ended, unknown.output()]).toEqual([1, 'DOCA_ERROR_CONNECTION_ABORTED\n']);
  }, 60_000);
});
