// The packages as users get them: installed from their archives, without scripts and without compilers.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { root } from '../../setup/src/paths.mjs';
import { npm } from '../src/managers.mjs';
import { tarballLimits } from '../src/limits.mjs';
import { target } from '../src/prebuild.mjs';
import { tooNew } from '../src/symbols.mjs';
import { commonJs, HELLO, HELLO_OUTPUT } from './hello.js';
import { agedTable, caged, patch, Project } from './project.js';
import { OLD_CORE } from './published.js';
import { compileTypes } from './types.js';

/** That of the project's own build. */
const { buildSync, transformSync } = createRequire(createRequire(import.meta.url).resolve('tsup'))('esbuild') as {
  buildSync: (options: object) => void;
  transformSync: (text: string, options: object) => { code: string };
};

/** Two connected queue pairs, as the shorter pieces of the README have them. */
const CONNECTED = `import * as verbs from '@verbs/core';
const { AccessFlags, CompletionBatch, openDevice, QpType, receiver, SendBatch, SendFlags, wcStatusText, WrOpcode } = verbs;
const ctx = openDevice();
const pd = ctx.allocPd();
const [cq, peerCq] = [1, 2].map(() => ctx.createCq(256, { channel: ctx.createCompChannel() }));
const mr = pd.allocMr(8192, AccessFlags.LOCAL_WRITE);
const cap = { maxSendWr: 64, maxRecvWr: 64 };
const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap });
const peer = pd.createQp({ qpType: QpType.RC, sendCq: peerCq, recvCq: peerCq, cap });
qp.init();
peer.init();
`;
const CONNECT = 'qp.connect(peer.endpoint());\npeer.connect(qp.endpoint());\n';

/** What is around the shorter pieces. */
const FRAMES = [
  {
    piece: /of receiver\(qp/,
    before: `${CONNECTED}${CONNECT}
      const answers = receiver(peer, { slots: 4, size: 1024 });
      (async () => {
        mr.bytes.set(Buffer.from('hello'));
        await peer.send({ opcode: WrOpcode.SEND, sgList: [{ mr, length: 5 }] });
        const answer = await answers.next();
        console.log(answer.text() === 'hello, too' ? 'done' : answer.text());
        process.exit(); // the piece goes on for ever
      })();
      `,
    after: '',
  },
  {
    piece: /new SendBatch\(64\)/,
    before: `${CONNECTED}${CONNECT}
      for (let i = 0; i < 64; i++) peer.postRecv({ sgList: [{ mr, offset: 4096 + i * 64, length: 64 }] });
      `,
    after: "\nconsole.log('done');\nctx.close();\n",
  },
];

interface SourceMap {
  sources: string[];
  sourcesContent: (string | null)[];
}

const published = inject('published');
let small: Project;
let whole: Project;

/** Installing everything of the workspace is slow on a busy machine, and done once. */
const PATIENCE = 240_000;

beforeAll(() => {
  small = new Project(published.registry);
  whole = new Project(published.registry);
});

afterAll(() => {
  small.remove();
  whole.remove();
});

test('what was built needs nothing that supported distributions lack', ({ skip }) => {
  const compiler = execFileSync('c++', ['-dumpversion'], { encoding: 'utf8' }).trim();
  skip(Number.parseInt(compiler) > 12, `GCC ${compiler} is newer than that of Debian 12, where releases are built`);
  expect(
    published.prebuilt.flatMap(({ file, needs }) => tooNew(needs).map((version) => `${file}: ${version}`)),
  ).toEqual([]);
});

test('core and soft install alone, and bring nothing of the vendors', { timeout: PATIENCE }, () => {
  expect(small.install('@verbs/core', '@verbs/soft')).toMatchObject({ code: 0 });
  const modules = join(small.folder, 'node_modules');
  expect(readdirSync(modules).sort()).toEqual(['.package-lock.json', '@verbs', 'node-addon-api']);
  expect(readdirSync(join(modules, '@verbs')).sort()).toEqual(['core', 'soft']);
});

test('all packages install, with one @verbs/core', { timeout: PATIENCE }, () => {
  expect(whole.install(...published.packages.map(({ name }) => name))).toMatchObject({ code: 0 });
  for (const { name } of published.packages) {
    expect(existsSync(whole.installed(name, 'node_modules/@verbs'))).toBe(false);
  }
});

test.each(['mjs', 'cjs'])('the example of core runs as .%s', (kind) => {
  const text = kind === 'mjs' ? HELLO : commonJs(HELLO);
  expect(small.run(`hello.${kind}`, text)).toEqual({ code: 0, stdout: 'hello over verbs\n', stderr: '' });
});

test('the programs of all READMEs run', () => {
  for (const { name } of published.packages) {
    const blocks = readFileSync(whole.installed(name, 'README.md'), 'utf8').matchAll(/```js\n([^]*?)```/g);
    for (const [, text = ''] of blocks) {
      // Shorter ones go on from the first, and a server needs its client: core's own test runs the two.
      if (!text.startsWith('import ') || text.includes('@verbs/core/rendezvous')) continue;
      expect([name, whole.run('program.mjs', text)]).toEqual([name, expect.objectContaining({ code: 0, stderr: '' })]);
    }
  }
});

test('the shorter pieces of the README of core run, in a program that has what they go on from', () => {
  const readme = readFileSync(small.installed('@verbs/core', 'README.md'), 'utf8');
  const pieces = [...readme.matchAll(/```js\n([^]*?)```/g)].map(([, text = '']) => text);
  const shorter = pieces.filter((text) => !text.startsWith('import '));
  expect(shorter.map((text) => FRAMES.filter(({ piece }) => piece.test(text)).length)).toEqual([1, 1]);
  for (const { piece, before, after } of FRAMES) {
    const text = shorter.find((each) => piece.test(each)) ?? '';
    expect(small.run('piece.mjs', before + text + after)).toEqual({ code: 0, stdout: 'done\n', stderr: '' });
  }
  const typed = /```ts\n([^]*?)```/.exec(readme)?.[1] ?? '';
  expect(typed).toContain('subscribe(');
  const { code } = transformSync(typed, { loader: 'ts' });
  expect(small.run('typed.mjs', code)).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('strict TypeScript compiles with the resolution nodenext', { timeout: PATIENCE }, () => {
  expect(compileTypes(whole, published.packages, 'nodenext')).toEqual({ code: 0, stdout: '', stderr: '' });
});

describe('what is in the archives', () => {
  test('stripped native files, and the text of the licence', () => {
    for (const { manifest, files } of published.tarballs) {
      expect(files).toContain('LICENSE');
      expect(files).toContain('README.md');
      const native = files.filter((file) => /\.(node|so[.\d]*)$/.test(file));
      expect(native.every((file) => file.startsWith(`prebuilds/${target}/`))).toBe(true);
      expect(native.length > 0).toBe(manifest.name !== '@verbs/cli');
      expect(files.filter((file) => /\/test\/|\/fuzz\/|\.test\.|\.o$/.test(file))).toEqual([]);
    }
  });

  test('everything that a registry shows, with the addresses of the one repository', () => {
    // The root's package.json has the address; a move changes it there, and this test names what else has it.
    const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      repository: { url: string };
    };
    const site = repository.url.replace(/^git\+/, '').replace(/\.git$/, '');
    for (const { manifest } of published.tarballs) {
      const { folder } = published.packages.find(({ name }) => name === manifest.name) ?? { folder: '' };
      const directory = relative(root, folder);
      expect(manifest).toMatchObject({
        description: expect.stringMatching(/./) as string,
        license: 'MIT',
        repository: { ...repository, directory },
        homepage: `${site}/tree/main/${directory}#readme`,
        bugs: { url: `${site}/issues` },
        engines: { node: '>=20.19' },
        os: ['linux'],
        cpu: ['x64', 'arm64'],
        libc: ['glibc'],
        keywords: expect.arrayContaining(['rdma', 'verbs']) as string[],
      });
    }
  });

  test('the text of every source that a source map names, once', () => {
    for (const { manifest, files } of published.tarballs) {
      const maps = files.filter((file) => /^dist\/.*\.map$/.test(file));
      expect(maps).not.toEqual([]);
      for (const map of maps) {
        const path = whole.installed(manifest.name, map);
        const { sources, sourcesContent } = JSON.parse(readFileSync(path, 'utf8')) as SourceMap;
        for (const [at, source] of sources.entries()) {
          const beside = files.includes(join(dirname(map), source));
          expect([map, source, typeof sourcesContent[at]]).toEqual([map, source, beside ? 'object' : 'string']);
        }
      }
    }
  });

  test('sources that stack traces name', () => {
    const text = "import { openDevice } from '@verbs/core';\nopenDevice(1);\n";
    const { code, stderr } = whole.run('trace.mjs', text, { NODE_OPTIONS: '--enable-source-maps' });
    expect(code).toBe(1);
    const [, path = ''] = /\((\/.*\/@verbs\/core\/src\/.*\.ts):\d+:\d+\)/.exec(stderr) ?? [stderr];
    expect(existsSync(path) ? 'found' : stderr).toBe('found');
  });

  test('no more bytes than allowed', () => {
    const sizes = published.tarballs.map(({ manifest, bytes }) => ({ name: manifest.name, bytes }));
    expect(sizes.filter(({ name, bytes }) => bytes > tarballLimits(name))).toEqual([]);
  });

  test('ranges, and no version that is pinned', () => {
    for (const { manifest } of published.tarballs) {
      const { dependencies = {}, peerDependencies = {} } = manifest;
      const ours = Object.entries({ ...dependencies, ...peerDependencies }).filter(([name]) =>
        name.startsWith('@verbs/'),
      );
      for (const [, range] of ours) expect(range).toMatch(/^(\^\d|>=\d+\.\d+\.\d+ <\d)/);
      if (!['@verbs/core', '@verbs/cli'].includes(manifest.name))
        expect(dependencies).not.toHaveProperty('@verbs/core');
    }
  });
});

test('npx @verbs/cli runs a program of any language on the software NIC', { timeout: PATIENCE }, () => {
  const project = new Project(published.registry);
  const npx = join(dirname(npm.program()), 'npx-cli.js');
  const shell = { npm_config_script_shell: '/bin/sh' };
  const ended = project.node([npx, '--yes', '@verbs/cli', 'run', '--', '/usr/bin/ibv_devinfo'], shell, PATIENCE);
  project.remove();
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/hca_id:\s+soft0/) as string });
});

/** Prints the message of the first use, and proves that the import works. */
const FIRST_USE = `import { listDevices } from '@verbs/core';
console.log('imported');
try { listDevices(); } catch (error) { console.log(error.code, error.message); }`;

describe('what is wrong is said, with the remedy', () => {
  const prebuilt = (folder: string) => join(folder, 'prebuilds', target);
  const addon = (folder: string) => join(prebuilt(folder), 'verbs_core.node');

  test.each<[string, (folder: string) => void, RegExp]>([
    [
      'no native file',
      (folder) => {
        rmSync(join(folder, 'prebuilds'), { recursive: true });
      },
      /has no native files; reinstall it/,
    ],
    [
      'files for another processor',
      (folder) => {
        renameSync(prebuilt(folder), join(folder, 'prebuilds/linux-s390x-glibc'));
      },
      /prebuilt files for linux-s390x-glibc, none for linux-.*; build it: /,
    ],
    [
      'files for another C library',
      (folder) => {
        renameSync(prebuilt(folder), prebuilt(folder).replace('glibc', 'musl'));
      },
      /uses the C library glibc, .*; use a system with glibc \(the image node:24-slim instead of node:24-alpine\)/,
    ],
    [
      'a file of another processor',
      (folder) => {
        patch(addon(folder), '\x3e\0\x01\0\0\0', '\xb7\0\x01\0\0\0');
      },
      /is for arm64, this Node.js is for x64; .*npm ci/,
    ],
    [
      'a glibc that is too old',
      (folder) => {
        patch(addon(folder), 'GLIBC_2.34\0', 'GLIBC_2.94\0');
      },
      /it needs glibc 2.94, and this system has 2\.\d+; use a newer system/,
    ],
    [
      'a libstdc++ that is too old',
      (folder) => {
        patch(addon(folder), 'GLIBCXX_3.4.15\0', 'GLIBCXX_3.4.95\0');
      },
      /it needs libstdc\+\+ \(GLIBCXX_3.4.95\)/,
    ],
    [
      'a missing library',
      (folder) => {
        patch(addon(folder), 'libstdc++.so.6', 'libstdc++.so.7');
      },
      /the library libstdc\+\+\.so\.7 is missing; install it/,
    ],
    [
      'a damaged file',
      (folder) => {
        truncateSync(addon(folder), 10);
      },
      /is damaged, or no library; reinstall it/,
    ],
    [
      'a file that is cut off',
      (folder) => {
        truncateSync(addon(folder), 100_000);
      },
      /is damaged, or no library; reinstall it/,
    ],
  ])('%s', (_, change, message) => {
    const ended = small.broken('@verbs/core', change, () => small.run('use.mjs', FIRST_USE));
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toMatch(/^imported\nERR_VERBS_NATIVE the native part of @verbs\/core cannot be used: /);
    expect(ended.stdout).toMatch(message);
  });

  test('another system', () => {
    small.write('darwin.cjs', "Object.defineProperty(process, 'platform', { value: 'darwin' });");
    const ended = small.node(['--require', './darwin.cjs', small.write('use.mjs', FIRST_USE)]);
    expect(ended.stdout).toMatch(/^imported\nERR_VERBS_NATIVE .* a feature of Linux, and this is darwin on \w+; run/);
  });

  test('a Node.js that is too old', () => {
    small.write('old.cjs', "Object.defineProperty(process.versions, 'node', { value: '18.20.0' });");
    const ended = small.broken(
      '@verbs/core',
      (folder) => {
        truncateSync(addon(folder), 10);
      },
      () => small.node(['--require', './old.cjs', small.write('use.mjs', FIRST_USE)]),
    );
    expect(ended.stdout).toMatch(/^imported\nERR_VERBS_NATIVE .*Node.js 18.20.0 is too old; use Node.js 20.19/);
  });

  test('a bundle: it runs beside its packages, and says what it lacks without them', () => {
    const source = small.write(
      'app/source.mjs',
      FIRST_USE.replace('listDevices();', 'console.log(listDevices().length);'),
    );
    for (const format of ['esm', 'cjs'] as const) {
      const outfile = join(small.folder, 'app', format === 'esm' ? 'bundle.mjs' : 'bundle.cjs');
      buildSync({ entryPoints: [source], outfile, bundle: true, platform: 'node', format, logLevel: 'error' });
      expect(small.node([outfile])).toEqual({ code: 0, stdout: 'imported\n1\n', stderr: '' });
      const elsewhere = new Project('http://127.0.0.1:1');
      const alone = elsewhere.run(`app/${basename(outfile)}`, readFileSync(outfile, 'utf8'));
      elsewhere.remove();
      expect(alone.stdout).toMatch(/its code was bundled into another file.*mark @verbs\/core as external/);
    }
  });

  test('the permission model', () => {
    const flag = process.versions.node.startsWith('20.') ? '--experimental-permission' : '--permission';
    const ended = small.node([flag, '--allow-fs-read=*', small.write('use.mjs', FIRST_USE)]);
    expect(ended.stdout).toMatch(/ERR_VERBS_NATIVE .*without addons; start it with --allow-addons/);
  });

  test('a host that gives JavaScript no memory of addons, as Electron', () => {
    const ended = small.broken(
      '@verbs/core',
      () => undefined,
      () => small.run('hello.mjs', HELLO, caged(small, addon(small.installed('@verbs/core')))),
    );
    // Where the mark of an ArrayBuffer keeps it in its place, its own memory is used.
    if (Number(process.versions.node.split('.')[0]) >= 24) {
      expect(ended).toEqual({ code: 0, stdout: HELLO_OUTPUT, stderr: '' });
    } else {
      expect(ended.stderr).toMatch(/EOPNOTSUPP: .*ibv_reg_mr of 4096 bytes: .*use pd\.regMr\(new SharedArrayBuffer/);
      const shared = HELLO.replace(/pd\.allocMr\(4096, /, 'pd.regMr(new SharedArrayBuffer(4096), ')
        .replace(
          "new TextEncoder().encodeInto('hello over verbs', mr.bytes)",
          "{ written: Buffer.from(mr.bytes.buffer).write('hello over verbs') }",
        )
        .replace('decode(mr.bytes.subarray', 'decode(mr.bytes.slice');
      const again = small.broken(
        '@verbs/core',
        () => undefined,
        () => small.run('shared.mjs', shared, caged(small, addon(small.installed('@verbs/core')))),
      );
      expect(again).toEqual({ code: 0, stdout: HELLO_OUTPUT, stderr: '' });
    }
  });

  test('a package that is too old for another one, when it is installed', { timeout: PATIENCE }, () => {
    const project = new Project(published.registry);
    const ended = project.install(`@verbs/core@${OLD_CORE}`, '@verbs/hbl');
    project.remove();
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/ERESOLVE[^]*peer @verbs\/core@">=0\.1\.0 <1" from @verbs\/hbl/);
  });

  test('a package that is too old for another one, when that is used: both folders, and npm ls', () => {
    const text = `import { listDevices } from '@verbs/hbl';\ntry { listDevices(); } catch (error) { console.log(error.message); }`;
    const change = (folder: string) => {
      agedTable(addon(folder));
    };
    const ended = whole.broken('@verbs/core', change, () => whole.run('use.mjs', text));
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const [core, hbl] = ['@verbs/core', '@verbs/hbl'].map((name) => whole.installed(name));
    expect(ended.stdout).toMatch(
      new RegExp(
        `^the native part of @verbs/hbl cannot be used: ${hbl} does not fit ${core}: it needs version \\d+ of the native ` +
          'table of @verbs/core, and finds version 1; update @verbs/core; "npm ls @verbs/core" shows',
      ),
    );
  });

  test('two copies of core: a warning, and an object of the one is refused by the other, with both folders', () => {
    const other = join(whole.folder, 'other/node_modules/@verbs/core');
    cpSync(whole.installed('@verbs/core'), other, { recursive: true });
    whole.write('other/open.mjs', "import { openDevice } from '@verbs/core';\nexport const ctx = openDevice('soft0');");
    const text = `import { ctx } from './other/open.mjs';
      import { queryDevice } from '@verbs/hbl';
      try { queryDevice(ctx); } catch (error) { console.log(error.message); }`;
    const ended = whole.run('use.mjs', text);
    rmSync(join(whole.folder, 'other'), { recursive: true });
    const core = whole.installed('@verbs/core');
    expect(ended.stderr).toContain('VERBS_TWO_COPIES');
    expect(ended.stdout).toContain(
      `must be a Context of the @verbs/core in ${core}, and not of the copy in ${other} ("npm ls @verbs/core" shows who`,
    );
  });

  test('a vendor package names the cause in core', () => {
    const text = `import { listDevices } from '@verbs/hbl';\ntry { listDevices(); } catch (error) { console.log(error.message); }`;
    const change = (folder: string) => {
      rmSync(join(folder, 'prebuilds'), { recursive: true });
    };
    const ended = whole.broken('@verbs/core', change, () => whole.run('use.mjs', text));
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/@verbs\/core cannot be used: /) as string });
  });
});

describe('the command without native files', () => {
  const verbs = (...args: string[]) => whole.node([whole.installed('@verbs/cli', 'bin/verbs.mjs'), ...args]);
  const withoutFiles = <T>(body: () => T) =>
    whole.broken(
      '@verbs/core',
      (folder) => {
        rmSync(join(folder, 'prebuilds'), { recursive: true });
      },
      body,
    );

  test('every help works', () => {
    withoutFiles(() => {
      const help = verbs('--help');
      const commands = [...help.stdout.matchAll(/^ {2}([a-z]+)\b.*? {2}/gm)].map(([, name = '']) => name);
      expect(commands).toContain('doctor');
      expect(commands.length).toBeGreaterThan(9);
      for (const name of commands.filter((each) => !['verbs', 'help'].includes(each))) {
        expect([name, verbs(name, '--help')]).toEqual([name, expect.objectContaining({ code: 0, stderr: '' })]);
      }
    });
  });

  test('doctor says what is missing, and other commands as well, without a stack', () => {
    withoutFiles(() => {
      const doctor = verbs('doctor');
      expect(doctor).toMatchObject({ code: 1, stderr: '' });
      expect(doctor.stdout).toMatch(/FAIL @verbs\/core: \d+\.\d+\.\d+: .* has no native files\n +-> reinstall it/);
      expect(doctor.stdout).toMatch(/ok {3}@verbs\/soft: \d+\.\d+\.\d+, native part prebuilds\//);
      const devices = verbs('devices');
      expect(devices.code).toBe(1);
      expect(devices.stderr).toMatch(/^verbs: the native part of @verbs\/core cannot be used: [^\n]*\n$/);
    });
  });

  test('doctor and devices with them', () => {
    expect(verbs('doctor').stdout).toMatch(/ok {3}@verbs\/core: /);
    const devices = verbs('devices');
    expect(devices.stdout).toMatch(/soft0/);
    expect(devices.stdout).toMatch(/models for the software NIC: doca, hbl, mlx5/);
  });
});
