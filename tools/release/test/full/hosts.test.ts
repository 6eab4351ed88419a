// Other hosts of Node-API addons, the rest of README's programs, and the build from source.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { root } from '../../../setup/src/paths.mjs';
import { fetched, npm } from '../../src/managers.mjs';
import { HELLO, HELLO_OUTPUT } from '../hello.js';
import { Project } from '../project.js';

/** A program of core's tests that waits in each way there is. Its argument is the package. */
const WAITS = readFileSync(join(root, 'packages/core/test/programs/waits.mjs'), 'utf8');
const PATIENCE = 600_000;
/** A build from source takes two minutes of both processors; here they have other work too. */
const BUILD_PATIENCE = 2_400_000;
let project: Project;

beforeAll(() => {
  project = new Project(inject('published').registry);
  expect(project.install('@verbs/core', '@verbs/soft')).toMatchObject({ code: 0 });
}, PATIENCE);
afterAll(() => {
  project.remove();
});

function program(name: string, version: string, path: string): string {
  const file = fetched(name, version, path);
  chmodSync(file, 0o755);
  return file;
}

const bun = () => [program(`@oven/bun-linux-${process.arch === 'arm64' ? 'aarch64' : 'x64'}`, '1.4.5', 'bin/bun')];
const deno = () => [
  program(`@deno/linux-${process.arch}-glibc`, '2.9.6', 'deno'),
  ...['run', '--allow-all', '--node-modules-dir=manual'],
];

// Electron is not here: npm has no package with its program, which an install script fetches from elsewhere. Its memory
// without that of addons is a test of packed.test.ts, and its loop is libuv's.
test.each([
  ['Node.js', () => [process.execPath]],
  ['Bun', bun],
  ['Deno', deno],
])(
  '%s runs the example of core, and a program that waits',
  (_, host) => {
    const [command = '', ...args] = host();
    expect(project.program(command, [...args, project.write('hello.mjs', HELLO)])).toEqual({
      code: 0,
      stdout: HELLO_OUTPUT,
      stderr: '',
    });
    const waits = project.write('waits.mjs', WAITS);
    expect(project.program(command, [...args, waits, '@verbs/core'])).toEqual({
      code: 0,
      stdout: '2 completions\nTimeoutError\nthread ended\n',
      stderr: '',
    });
  },
  PATIENCE,
);

test(
  'the server and the client of the README of core meet',
  async () => {
    const readme = readFileSync(project.installed('@verbs/core', 'README.md'), 'utf8');
    const [server = '', client = ''] = [...readme.matchAll(/```js\n([^]*?)```/g)]
      .map(([, text = '']) => text)
      .filter((text) => text.includes("from '@verbs/core/rendezvous'"));
    const port = String(20_000 + (process.pid % 10_000));
    const file = project.write('server.mjs', server.replace('18515', port));
    const child = spawn(process.execPath, [file], { cwd: project.folder, stdio: 'ignore' });
    try {
      await expect
        .poll(() => project.run('client.mjs', client.replace('18515', port)), { timeout: 30_000, interval: 200 })
        .toEqual({ code: 0, stdout: HELLO_OUTPUT, stderr: '' });
    } finally {
      child.kill();
      await once(child, 'exit');
    }
  },
  PATIENCE,
);

test(
  'without prebuilt files, the command of the README builds them',
  () => {
    const readme = readFileSync(project.installed('@verbs/core', 'README.md'), 'utf8');
    const commands = [...readme.matchAll(/^\(cd (node_modules\/@verbs\/\w+) && npm run build:native\)$/gm)];
    expect(commands.map(([, folder]) => folder)).toEqual(['node_modules/@verbs/soft', 'node_modules/@verbs/core']);
    for (const [, folder = ''] of commands) {
      const installed = join(project.folder, folder);
      rmSync(join(installed, 'prebuilds'), { recursive: true });
      const compilers = { PATH: `${join(project.folder, '.bin')}:${process.env['PATH'] ?? ''}` };
      const built = project.program(
        process.execPath,
        [npm.program(), '--prefix', installed, 'run', 'build:native'],
        { ...compilers, npm_config_nodedir: process.env['npm_config_nodedir'] },
        BUILD_PATIENCE,
      );
      expect([folder, built.code, built.code === 0 ? '' : built.stdout + built.stderr]).toEqual([folder, 0, '']);
    }
    expect(project.run('hello.mjs', HELLO)).toEqual({ code: 0, stdout: HELLO_OUTPUT, stderr: '' });
  },
  BUILD_PATIENCE,
);
