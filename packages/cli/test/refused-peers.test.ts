// Packets from another host that nobody here has asked for: the debug log says once from whom and why, and so does
// `verbs doctor` while the process runs.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { describeTwoHosts, type Host } from '../../core/test/shared/two-hosts.js';
import type { Finding } from '../src/doctor/finding.js';
import { VERBS } from './verbs.js';

const program = fileURLToPath(new URL('programs/strangers.mjs', import.meta.url));

describeTwoHosts(11, (server, client) => {
  const environment = (more: NodeJS.ProcessEnv) => ({ ...process.env, ...more });

  function hear({ wrap: [command = '', ...rest] }: Host, env: NodeJS.ProcessEnv) {
    const child = spawn(command, [...rest, process.execPath, program, 'hear'], { env: environment(env) });
    onTestFinished(() => void child.kill('SIGKILL'));
    let log = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
    const over = once(child, 'close').then(() => log);
    return { child, over, log: () => log };
  }
  const run = async ({ wrap: [command = '', ...rest] }: Host, args: string[], env: NodeJS.ProcessEnv) => {
    const options = { env: environment(env) };
    return (await promisify(execFile)(command, [...rest, process.execPath, ...args], options)).stdout;
  };

  it('are told once, by the debug log and by verbs doctor', { timeout: 60_000 }, async () => {
    const hearing = hear(server, { VERBS_SOFT: 'soft0,foreign=none', NODE_DEBUG: 'verbs' });
    await once(hearing.child.stdout, 'data');
    await run(client, [program, 'send', server.ipv4], { VERBS_SOFT: 'soft0' });
    const from = `packets from ${client.ipv4} were dropped: `;
    const why = [
      'no queue pair here has the number 0x7777',
      'the packet is from UDP port 5555, where no peer sends from that this device hears',
    ];
    await expect.poll(hearing.log).toContain(`${from}${String(why[1])}`);
    const stdout = await run(server, [VERBS, 'doctor', '--json'], { VERBS_SOFT: 'soft0' });
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    const topic = `process ${String(hearing.child.pid)} (`;
    const told = findings.filter((finding) => finding.topic.startsWith(topic));
    expect(told.map(({ level, text }) => [level, text])).toEqual(why.map((reason) => ['warn', `${from}${reason}`]));
    hearing.child.stdin.end();
    const log = await hearing.over;
    for (const reason of why) expect(log.split(`${from}${reason}`)).toHaveLength(2);
  });

  it('from a port of its own is no reason, unless foreign=none says so', { timeout: 60_000 }, async () => {
    const hearing = hear(server, { VERBS_SOFT: 'soft0', NODE_DEBUG: 'verbs' });
    await once(hearing.child.stdout, 'data');
    await run(client, [program, 'send', server.ipv4], { VERBS_SOFT: 'soft0' });
    await expect.poll(hearing.log).toContain('no queue pair here has the number 0x7777');
    hearing.child.stdin.end();
    expect(await hearing.over).not.toContain('UDP port');
  });
});
