// The files for arm64 on an emulated machine: C++ tests, and the packages as users get them on Node's arm64 build.
import { execFileSync, type ExecFileSyncOptions, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { nodeProgram } from '../../../setup/src/node-releases.mjs';
import { libraryPackages } from '../../../setup/src/packages.mjs';
import { root } from '../../../setup/src/paths.mjs';
import { arm64Machine } from '../../src/arm64-machine.mjs';
import { toolchain } from '../../src/cross.mjs';
import { commonJs, HELLO, HELLO_OUTPUT } from '../hello.js';
import { type Ended, Project } from '../project.js';

const PATIENCE = 1_200_000;
const { packages, registry } = inject('published');
const build = join(root, 'packages/soft/build/arm64');

/** The rooms, and the tests that the emulation cannot run: it is no Linux kernel. */
const rooms: [room: string, exceptions: string[]][] = [
  ['wire', []],
  [
    'guard',
    [
      'an alternate stack is as it was*', // no SS_AUTODISARM
      'a signal that was sent to a thread that blocks it*', // SIGSEGV is never blocked
    ],
  ],
  ['cm', []],
  ['host', []],
];

let machine: string[];
let node: string;
let project: Project;

beforeAll(() => {
  machine = arm64Machine();
  node = nodeProgram('22.23.3', 'arm64');
  project = new Project(registry);
  expect(project.install(...packages.map(({ name }) => name))).toMatchObject({ code: 0 });
  const source = join(root, 'packages/soft/native');
  const quietly: ExecFileSyncOptions = { stdio: ['ignore', 'ignore', 'inherit'] };
  execFileSync('cmake', ['-S', source, '-B', build, '-G', 'Ninja', `-DCMAKE_TOOLCHAIN_FILE=${toolchain}`], quietly);
  execFileSync('ninja', ['-C', build, ...rooms.map(([room]) => `${room}_test`)], quietly);
}, PATIENCE);
afterAll(() => {
  project.remove();
});

test.each(rooms)(
  'the C++ tests of %s',
  (room, exceptions) => {
    const left = exceptions.length === 0 ? [] : [`-tce=${exceptions.join(',')}`];
    const [program = '', ...before] = machine;
    const ended = spawnSync(program, [...before, join(build, `${room}_test`), ...left], { encoding: 'utf8' });
    expect([ended.status, ended.status === 0 ? '' : ended.stdout]).toEqual([0, '']);
    expect(ended.stdout).toMatch(/test cases: +\d+ \| +[1-9]\d* passed \| 0 failed/);
  },
  PATIENCE,
);

function run(...args: string[]): Ended {
  const [program = '', ...before] = machine;
  return project.program(program, [...before, node, ...args], {}, 300_000);
}

test.each(['mjs', 'cjs'])(
  'the example of core runs as .%s',
  (kind) => {
    const file = project.write(`hello.${kind}`, kind === 'mjs' ? HELLO : commonJs(HELLO));
    expect(run(file)).toEqual({ code: 0, stdout: HELLO_OUTPUT, stderr: '' });
  },
  PATIENCE,
);

test(
  'the addons of all packages load, and the models are there',
  () => {
    const cli = project.installed('@verbs/cli', 'bin/verbs.mjs');
    expect(run(cli, 'devices').stdout).toMatch(/models for the software NIC: doca, hbl, mlx5/);
    const { stdout } = run(cli, 'doctor');
    for (const { name } of libraryPackages()) {
      expect(stdout).toMatch(new RegExp(`ok {3}${name}: .*prebuilds/linux-arm64-glibc`));
    }
  },
  PATIENCE,
);
