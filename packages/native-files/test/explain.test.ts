import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { explain, folderOf, kNativeError, load, loadedFrom, locate, runningTarget, targetName } from '../src/index.js';

const target = { platform: 'linux', arch: 'x64', libc: 'glibc' } as const;
const about = { name: '@verbs/toy', file: 'build/lib/toy.node', target };

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'verbs-native-files-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  return folder;
}

/** A package with files, each of them an ELF header for a processor. */
function package_(files: Record<string, number> = {}): { folder: string; from: string } {
  const folder = temporary();
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: '@verbs/toy' }));
  mkdirSync(join(folder, 'dist'));
  for (const [file, machine] of Object.entries(files)) {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(
      join(folder, file),
      Buffer.from([
        0x7f,
        0x45,
        0x4c,
        0x46,
        2,
        1,
        1,
        ...new Array<number>(11).fill(0),
        machine,
        0,
        ...new Array<number>(44).fill(0),
      ]),
    );
  }
  return { folder, from: pathToFileURL(join(folder, 'dist/index.js')).href };
}

test('names the running target', () => {
  expect(targetName(runningTarget())).toMatch(/^linux-\w+-(glibc|musl)$/);
});

test('prefers what was built here to what the package brings', () => {
  const prebuilt = `prebuilds/${targetName(runningTarget())}/toy.node`;
  const both = package_({ 'build/lib/toy.node': 62, [prebuilt]: 62 });
  expect(locate({ ...about, from: both.from }).path).toBe(join(both.folder, 'build/lib/toy.node'));
  const one = package_({ [prebuilt]: 62 });
  expect(locate({ ...about, from: one.from }).path).toBe(join(one.folder, prebuilt));
  const none = package_();
  expect(locate({ ...about, from: none.from })).toEqual({ folder: none.folder });
  expect(folderOf({ ...about, from: none.from })).toBe(join(none.folder, 'build/lib'));
});

test('finds the installed package from a bundle', () => {
  const application = temporary();
  const folder = join(application, 'node_modules/@verbs/toy');
  mkdirSync(join(folder, 'build/lib'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: '@verbs/toy' }));
  writeFileSync(join(folder, 'build/lib/toy.node'), '');
  const from = pathToFileURL(join(application, 'out/bundle.mjs')).href;
  expect(locate({ ...about, from }).path).toBe(join(folder, 'build/lib/toy.node'));
});

test.each<[string, Record<string, number>, string, RegExp]>([
  ['another processor', { 'build/lib/toy.node': 183 }, '', /is for arm64, this Node.js is for x64; .*npm ci/],
  ['an unknown processor', { 'build/lib/toy.node': 99 }, '', /is for machine 99/],
  ['glibc', { 'build/lib/toy.node': 62 }, "version `GLIBC_9.99' not found", /needs glibc 9.99, and this system has \d/],
  ['libstdc++', { 'build/lib/toy.node': 62 }, "version `CXXABI_1.9' not found", /needs libstdc\+\+ \(CXXABI_1.9\);/],
  ['Node-API', { 'build/lib/toy.node': 62 }, 'undefined symbol: napi_new', /has no napi_new of Node-API 9/],
  [
    'a library',
    { 'build/lib/toy.node': 62 },
    'libx.so.3: cannot open shared object file',
    /libx.so.3 is missing; install/,
  ],
  [
    'our library',
    { 'build/lib/toy.node': 62 },
    'libverbs-x.so.1: cannot open shared object file',
    /reinstall the package/,
  ],
  [
    'musl',
    { 'build/lib/toy.node': 62 },
    'Error relocating x: y: symbol not found',
    /this Node.js uses musl; use a system with glibc/,
  ],
  ['anything else', { 'build/lib/toy.node': 62 }, 'something new', /does not load: something new; reinstall it/],
  [
    'no file',
    {},
    '',
    /has no native files; reinstall it \(npm install @verbs\/toy\), or build it: .*npm run build:native/,
  ],
  [
    'files of another libc',
    { 'prebuilds/linux-x64-musl/toy.node': 62 },
    '',
    /uses the C library glibc, .*; use a system with glibc \(the image node/,
  ],
  [
    'files of another target',
    { 'prebuilds/linux-arm64-glibc/toy.node': 183 },
    '',
    /none for linux-x64-glibc; build it/,
  ],
])('%s', (_, files, text, message) => {
  const { folder } = package_(files);
  const [file = ''] = Object.keys(files);
  const path = file.startsWith('build') ? { path: join(folder, file), cause: new Error(text) } : {};
  expect(explain({ ...about, folder, ...path })).toMatch(message);
});

test('addons that Node.js was told not to load', () => {
  const { folder } = package_({ 'build/lib/toy.node': 62 });
  const cause = Object.assign(new Error('disabled'), { code: 'ERR_DLOPEN_DISABLED' });
  const attempt = { ...about, folder, path: join(folder, 'build/lib/toy.node'), cause };
  expect(explain(attempt)).toMatch(/runs with --no-addons; start it without/);
  Object.assign(process, { permission: {} });
  onTestFinished(() => {
    Reflect.deleteProperty(process, 'permission');
  });
  expect(explain(attempt)).toMatch(/runs with --permission and without addons; start it with --allow-addons too/);
});

test('a deleted working directory is no place to look', () => {
  const none = package_();
  const cwd = vi.spyOn(process, 'cwd').mockImplementation(() => {
    throw Object.assign(new Error('uv_cwd'), { code: 'ENOENT' });
  });
  onTestFinished(() => {
    cwd.mockRestore();
  });
  expect(locate({ ...about, from: undefined })).toEqual({});
  expect(folderOf({ ...about, from: undefined })).toBe('/build/lib');
  expect(locate({ ...about, from: none.from })).toEqual({ folder: none.folder });
});

test('other systems, and bundles', () => {
  expect(explain({ ...about, target: { platform: 'win32', arch: 'x64' } })).toMatch(
    /this is win32 on x64; run the pro/,
  );
  expect(explain(about)).toMatch(/was bundled.*mark @verbs\/toy as external/);
});

test('an addon that does not load is an error of its use, again and again', () => {
  const { from } = package_({ 'build/lib/toy.node': 62 });
  const addon = load({ ...about, from }) as { call: () => void };
  const failure = expect.objectContaining({ code: kNativeError, cause: expect.any(Error) as Error }) as Error;
  for (const use of [
    () => {
      addon.call();
    },
    () => addon.call,
  ])
    expect(use).toThrow(failure);
});

test('so is an addon that refuses to be set up, with the message of what it needs', () => {
  const { folder, from } = package_({ 'build/lib/toy.js': 0 });
  writeFileSync(join(folder, 'build/lib/toy.js'), 'exports.answer = 42;');
  const place = { ...about, file: 'build/lib/toy.js', from };
  expect(load(place)).toEqual({ answer: 42 });
  const needed = Object.assign(new Error('the other package is not built'), { code: kNativeError });
  const addon = load(place, () => {
    throw needed;
  });
  expect(() => (addon as { answer: number }).answer).toThrow(
    expect.objectContaining({ message: needed.message, cause: needed }) as Error,
  );
});

test('so is one with a reason and a remedy of its own', () => {
  const { folder, from } = package_({ 'build/lib/toy.js': 0 });
  writeFileSync(join(folder, 'build/lib/toy.js'), 'exports.answer = 42;');
  const place = { name: '@verbs/choosy', file: 'build/lib/toy.js', from };
  const addon = load(place, () => {
    throw Object.assign(new Error('old'), { reason: ['the other package is too old', 'update it'] });
  });
  expect(() => (addon as { answer: number }).answer).toThrow(
    'the native part of @verbs/choosy cannot be used: the other package is too old; update it',
  );
  expect(loadedFrom(load(place))).toBe(folder);
});

test('two copies of a package are a warning that names both', async () => {
  const warnings: (Error & { code?: string; detail?: string })[] = [];
  const listener = (warning: Error) => warnings.push(warning);
  process.on('warning', listener);
  const place = { name: '@verbs/twice', file: 'build/lib/toy.js' };
  const folders = [1, 2].map(() => {
    const { folder, from } = package_({ 'build/lib/toy.js': 0 });
    writeFileSync(join(folder, 'build/lib/toy.js'), '');
    for (let times = 0; times < 2; times++) load({ ...place, from });
    return folder;
  });
  await new Promise(setImmediate);
  process.off('warning', listener);
  const ours = warnings.filter(({ code }) => code === 'VERBS_TWO_COPIES');
  expect(ours.length).toBeGreaterThan(0);
  for (const folder of folders) expect(ours[0]?.message).toContain(folder);
  expect(ours[0]?.detail).toContain('npm ls @verbs/twice');
});
