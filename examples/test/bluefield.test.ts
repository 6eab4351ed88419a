// The BlueField pair of examples/apps, over both APIs, and over one at each end: files both ways, and a command.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { Program } from './program.js';

const bluefield = fileURLToPath(new URL('../apps/bluefield/bin/bluefield.mjs', import.meta.url));

it.each([
  ['comch', 'comch'],
  ['comm-channel', 'comm-channel'],
  ['comm-channel', 'comch'],
  ['comch', 'comm-channel'],
])('bluefield: an agent over %s, a host over %s', async (ofAgent, ofHost) => {
  const folder = mkdtempSync(join(tmpdir(), 'verbs-bluefield-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const start = (api: string, ...args: string[]) =>
    new Program(process.execPath as `/${string}`, [bluefield, ...args], {
      env: { VERBS_DOCA_API: api, XDG_RUNTIME_DIR: folder },
      cwd: folder,
    });
  const agent = start(ofAgent, 'agent', '--directory', folder, '--allow', 'echo');
  try {
    await agent.until(/./);
    const file = Buffer.alloc(300_000, 'every byte counts ');
    writeFileSync(join(folder, 'here.bin'), file);
    expect(await start(ofHost, 'put', 'here.bin', 'there.bin').outcome()).toMatchObject({ status: 0 });
    expect(readFileSync(join(folder, 'there.bin')).equals(file)).toBe(true);
    expect(await start(ofHost, 'get', 'there.bin', 'back.bin').outcome()).toMatchObject({ status: 0 });
    expect(readFileSync(join(folder, 'back.bin')).equals(file)).toBe(true);
    const said = await start(ofHost, 'run', '--', 'echo', 'hello').outcome();
    expect(said).toMatchObject({ status: 0, stdout: 'hello\n' });
  } finally {
    agent.process.kill();
    await agent.outcome();
  }
});
