// Debian's smallest system with Node.js and nothing else, and without Node.js: what people get runs there.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { nodeProgram } from '../../../setup/src/node-releases.mjs';
import { root as checkout } from '../../../setup/src/paths.mjs';
import { makeArchive } from '../../src/archive.mjs';
import { debianRoot } from '../../src/debian-root.mjs';
import { commonJs, HELLO, HELLO_OUTPUT } from '../hello.js';
import { type Ended, Project } from '../project.js';

const PATIENCE = 600_000;
/** For what debootstrap fetches and unpacks: a minute, and many on a loaded machine. */
const FETCH_PATIENCE = 2_400_000;
/** debootstrap needs it. */
const isRoot = process.getuid?.() === 0;
const { packages, registry } = inject('published');

let debian: string;
let folder: string;

beforeAll(() => {
  if (!isRoot) return;
  const arch = process.arch === 'arm64' ? 'arm64' : 'amd64';
  debian = debianRoot({ name: `debian-${arch}`, suite: 'bookworm', arch, packages: ['ibverbs-utils'] });
  for (const each of ['work', 'node']) mkdirSync(join(debian, each), { recursive: true });
  folder = mkdtempSync(join(tmpdir(), 'verbs-roots-'));
}, FETCH_PATIENCE);
afterAll(() => {
  if (isRoot) rmSync(folder, { recursive: true });
});

/** Runs a command in the system, with a folder of ours as /work, a network of its own, and that of Node as /node. */
function inRoot(work: string, command: string, node?: string): Ended {
  const script = `set -e
    for each in proc dev; do mount --rbind /$each "$1/$each"; done
    mount --bind "$2" "$1/work"
    [ -z "$4" ] || mount --bind "$4" "$1/node"
    ip link set lo up
    exec chroot "$1" /usr/bin/env -i PATH=/usr/bin:/bin:/node HOME=/tmp sh -c "cd /work; $3"`;
  const args = ['--user', '--map-root-user', '--mount', '--net', '--fork', '--kill-child', 'sh', '-c', script, 'root'];
  const { status, stdout, stderr } = spawnSync('unshare', [...args, debian, work, command, node ?? ''], {
    encoding: 'utf8',
    timeout: 120_000,
  });
  return { code: status, stdout, stderr };
}

describe.skipIf(!isRoot)('with Node.js and nothing else', () => {
  let project: Project;
  const node = dirname(nodeProgram('22.23.3'));

  beforeAll(() => {
    project = new Project(registry);
    expect(project.install(...packages.map(({ name }) => name))).toMatchObject({ code: 0 });
  }, PATIENCE);
  afterAll(() => {
    project.remove();
  });

  test('it has no compiler, no npm and no libibverbs for programs that are built', () => {
    expect(inRoot(project.folder, 'command -v gcc cc make python3 npm', node)).toMatchObject({ code: 127, stdout: '' });
  });

  test.each(['mjs', 'cjs'])('the example of core runs as .%s', (kind) => {
    project.write(`hello.${kind}`, kind === 'mjs' ? HELLO : commonJs(HELLO));
    expect(inRoot(project.folder, `node hello.${kind}`, node)).toEqual({ code: 0, stdout: HELLO_OUTPUT, stderr: '' });
  });

  test(
    'the small examples run',
    () => {
      const programs = join(checkout, 'examples/programs');
      cpSync(programs, project.folder, { recursive: true });
      for (const file of ['atomics.mjs', 'devinfo.mjs', 'srq.mjs']) {
        expect([file, inRoot(project.folder, `node ${file}`, node)]).toEqual([
          file,
          expect.objectContaining({ code: 0, stderr: '' }),
        ]);
      }
    },
    PATIENCE,
  );

  test(
    'the demo runs',
    () => {
      const made = ['package.json', 'bin', 'dist'];
      const copy = (from: string, to: string) => {
        for (const name of made.filter((each) => existsSync(join(checkout, from, each))))
          cpSync(join(checkout, from, name), join(to, name), { recursive: true });
      };
      copy('examples', join(project.folder, 'demo'));
      copy('packages/lib', project.installed('@verbs/lib')); // what its programs share, which is not published
      const file = project.write('file', 'a file'.repeat(100_000));
      const { code, stdout, stderr } = inRoot(project.folder, 'node demo/bin/demo.mjs file --json', node);
      expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
      const { runs, comm } = JSON.parse(stdout) as { runs: { sha256: string; sha256Equal: boolean }[]; comm: object };
      const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
      expect(runs).toEqual(Array(2).fill(expect.objectContaining({ sha256, sha256Equal: true })));
      expect(comm).toMatchObject({ bytes: 600_000 });
    },
    PATIENCE,
  );

  test('the command runs a foreign program', () => {
    const verbs = 'node node_modules/@verbs/cli/bin/verbs.mjs';
    expect(inRoot(project.folder, `${verbs} run -- ibv_devinfo`, node).stdout).toMatch(/hca_id:\s+soft0/);
  });
});

describe.skipIf(!isRoot)('without Node.js, with the release archive', () => {
  let work: string;
  const verbsRun = 'bin/verbs-run';

  beforeAll(() => {
    const native = packages.filter((each) => each.native);
    const { path } = makeArchive(native, { arch: process.arch, into: folder });
    work = join(folder, 'with space');
    mkdirSync(work);
    execFileSync('tar', ['-xzf', path, '-C', work, '--strip-components=1']);
  }, PATIENCE);

  test('there is no Node.js', () => {
    expect(inRoot(work, 'command -v node')).toMatchObject({ code: 127, stdout: '' });
    expect(inRoot(work, 'ibv_devinfo').code).not.toBe(0);
  });

  test('verbs-run shows the default device, and that of a vendor model', () => {
    expect(inRoot(work, `${verbsRun} ibv_devinfo`)).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/hca_id:\s+soft0/) as string,
    });
    expect(inRoot(work, `${verbsRun} --device m0,kind=mlx5 ibv_devinfo -d m0`).stdout).toMatch(/vendor_id:\s+0x02c9/);
    expect(inRoot(work, `${verbsRun} ls /sys/class/infiniband`)).toMatchObject({ code: 0, stdout: 'soft0\n' });
  });

  test('two programs that know nothing of it talk to each other', () => {
    const client = `for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.3; ${verbsRun} ibv_rc_pingpong -g 0 -n 100 127.0.0.1 && break; done`;
    const ended = inRoot(work, `${verbsRun} ibv_rc_pingpong -g 0 -n 100 > /tmp/server 2>&1 & ${client}`);
    expect(ended.stdout).toMatch(/100 iters in/);
  });

  test('it reports what is wrong, passes the status on, and leaves nothing behind', () => {
    expect(inRoot(work, `${verbsRun} --nothing`)).toMatchObject({ code: 2 });
    expect(inRoot(work, verbsRun)).toMatchObject({ code: 2 });
    expect(inRoot(work, `${verbsRun} sh -c 'exit 7'`)).toMatchObject({ code: 7 });
    expect(inRoot(work, `rm -rf /tmp/tmp.*; ${verbsRun} true; ls -d /tmp/tmp.*`).stdout).toBe('');
  });

  test('pkg-config builds a program that controls the NIC', () => {
    writeFileSync(
      join(work, 'control.c'),
      '#include <stdio.h>\n#include <verbs_soft.h>\nint main(void) { return puts(verbs_soft_device_name(0)) < 0; }\n',
    );
    // Built here, run there. The compiler takes the flags as words.
    const flags = `PKG_CONFIG_PATH=lib/pkgconfig pkg-config --cflags --libs verbs-soft`;
    const built = spawnSync('sh', ['-c', `eval cc -o control control.c $(${flags})`], { cwd: work, encoding: 'utf8' });
    expect([built.status, built.stderr]).toEqual([0, '']);
    expect(inRoot(work, 'LD_LIBRARY_PATH=lib/dropin:lib ./control')).toEqual({
      code: 0,
      stdout: 'soft0\n',
      stderr: '',
    });
  });
});
