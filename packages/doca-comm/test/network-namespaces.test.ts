// A service and a client that share no file system: the host names the DPU's address, and the DPU's representor the host's.
// Each is on a host of its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { describeTwoHosts, type Host } from '../../core/test/shared/two-hosts.js';
import { script, type Program } from './helpers/program.js';

describeTwoHosts(7, (dpu, host) => {
  /** An address of the host that the representor does not name. */
  const stranger = '10.213.7.3';
  const directories: string[] = [];

  beforeAll(() => {
    host.ip('addr', 'add', `${stranger}/24`, 'dev', 'eth0');
  });

  afterAll(() => {
    for (const directory of directories) rmSync(directory, { recursive: true });
  });

  /** With a registry of its own, so that the two find each other by their addresses or not at all. */
  function start({ wrap }: Host, name: string, args: string[], configuration: string): Program {
    const directory = mkdtempSync(join(tmpdir(), 'verbs-registry-'));
    directories.push(directory);
    const env = { VERBS_SOFT: configuration, XDG_RUNTIME_DIR: directory };
    const program = script(name, args, env, wrap);
    onTestFinished(async () => {
      program.child.kill('SIGKILL');
      await program.ended;
    });
    return program;
  }

  const serve = (name: string) =>
    start(dpu, 'echo.mjs', [name], `doca_dpu0,kind=doca,role=dpu,addr=${dpu.ipv4},reps=5f5f:3b:00.0@${host.ipv4}`);
  const connect = (name: string, address: string) =>
    start(host, 'ask.mjs', [name, '300'], `doca_host0,kind=doca,role=host,addr=${address},dpu=${dpu.ipv4}`);

  test('messages go back and forth, and a service that dies is found anew', async () => {
    for (const round of [1, 2]) {
      const service = serve('far');
      await service.says('listening');
      const client = connect('far', host.ipv4);
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
    const unknown = connect('nobody', host.ipv4);
    expect([await unknown.ended, unknown.output()]).toEqual([1, 'DOCA_ERROR_CONNECTION_ABORTED\n']);
  }, 60_000);
});
