// Other hosts of Node-API addons, the rest of README's programs, and the build from source.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { fetched, npm } from '../../src/managers.mjs';
import { HELLO, HELLO_OUTPUT } from '../hello.js';
import { Project } from '../project.js';

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

test(
  'Bun runs the example of core',
  () => {
    const bun = program(`@oven/bun-linux-${process.arch === 'arm64' ? 'aarch64' : 'x64'}`, '1.4.5', 'bin/bun');
    expect(project.program(bun, [project.write('hello.mjs', HELLO)])).toEqual({
      code: 0,
      stdout: HELLO_OUTPUT,
      stderr: '',
    });
  },
  PATIENCE,
);

// Deno 2.9 frees the handle of an asynchronous clean-up hook twice when a program ends by itself, whatever the addon is.
test(
  'Deno runs it, if the program ends with process.exit()',
  () => {
    const deno = program(`@deno/linux-${process.arch}-glibc`, '2.9.6', 'deno');
    const file = project.write('hello.mjs', `${HELLO}\nprocess.exit();\n`);
    const ended = project.program(deno, ['run', '--allow-all', '--node-modules-dir=manual', file]);
    expect(ended).toEqual({ code: 0, stdout: HELLO_OUTPUT, stderr: '' });
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
