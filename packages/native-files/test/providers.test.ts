import { chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { installedProviders, locate } from '../src/index.js';

function temporary(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'verbs-providers-')));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  // What a program started elsewhere finds is not of this test.
  vi.spyOn(process, 'cwd').mockReturnValue(folder);
  vi.spyOn(process, 'argv', 'get').mockReturnValue([process.execPath, join(folder, 'program.mjs')]);
  return folder;
}

function add(folder: string, manifest: object) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
}

const seenFrom = (folder: string) => installedProviders(pathToFileURL(join(folder, 'dist/index.js')).href);
const peerDependencies = { '@verbs/core': '*' };
const exports_ = { '.': { import: { default: './dist/a.js' } }, './package.json': './package.json' };

test('providers are what stands beside a package of the project in a flat node_modules', () => {
  const scope = join(temporary(), 'node_modules/@verbs');
  add(join(scope, 'core'), { name: '@verbs/core' });
  add(join(scope, 'b'), { name: '@verbs/b', main: './b.cjs', verbs: {}, peerDependencies });
  add(join(scope, 'a'), { name: '@verbs/a', exports: exports_, verbs: { kind: 'a', devices: 'a_' }, peerDependencies });
  add(join(scope, 'words'), { name: '@verbs/words', verbs: ['run', 'walk'], peerDependencies });
  add(join(scope, 'grammar'), { name: '@verbs/grammar', verbs: { kind: 'irregular' } });
  add(join(scope, 'odd'), { name: '@verbs/odd', verbs: { kind: 7, devices: null }, peerDependencies });
  mkdirSync(join(scope, 'broken'));
  writeFileSync(join(scope, 'broken/package.json'), '{');
  expect(seenFrom(join(scope, 'core'))).toEqual([
    { name: '@verbs/a', folder: join(scope, 'a'), module: join(scope, 'a/dist/a.js'), kind: 'a', devices: 'a_' },
    { name: '@verbs/b', folder: join(scope, 'b'), module: join(scope, 'b/b.cjs') },
    { name: '@verbs/odd', folder: join(scope, 'odd'), module: join(scope, 'odd/index.js') },
  ]);
});

test.each(['null', '5', '[]', '{"name":5,"verbs":{},"peerDependencies":{"@verbs/core":"*"}}', '{"dependencies":7}'])(
  'a package.json of %s ends no search',
  (text) => {
    const folder = temporary();
    writeFileSync(join(folder, 'package.json'), text);
    mkdirSync(join(folder, 'below'));
    expect(seenFrom(join(folder, 'below'))).toEqual([]);
  },
);

test('providers are what a program depends on, in any scope and behind links', () => {
  const folder = temporary();
  const store = join(folder, 'node_modules/.store/acme');
  add(store, { name: 'acme-verbs', exports: exports_, verbs: { kind: 'acme' }, peerDependencies });
  symlinkSync(store, join(folder, 'node_modules/acme-verbs'));
  add(join(folder, 'node_modules/other'), { name: 'other', verbs: { kind: 'other' } });
  add(folder, { name: 'program', dependencies: { 'acme-verbs': '*', missing: '*' } });
  expect(seenFrom(temporary())).toEqual([]);
  expect(seenFrom(folder)).toEqual([
    { name: 'acme-verbs', folder: store, module: join(store, 'dist/a.js'), kind: 'acme' },
  ]);
});

/** Makes a folder that of another user: by its owner, which root can change, or by the user of this process. */
function give(folder: string) {
  if (process.geteuid?.() === 0) chownSync(folder, 4711, 4711);
  else vi.spyOn(process, 'geteuid').mockReturnValue(4711);
}

test('what another user has left above the working directory is not there', () => {
  const shared = temporary();
  const modules = join(shared, 'node_modules');
  add(shared, { name: 'trap', dependencies: { trap: '*' } });
  add(join(modules, 'trap'), { name: 'trap', verbs: {}, peerDependencies });
  add(join(modules, '@verbs/own'), { name: '@verbs/own' });
  writeFileSync(join(modules, '@verbs/own/own.node'), '');
  const folder = join(shared, 'below');
  mkdirSync(folder);
  const own = { name: '@verbs/own', file: 'own.node', from: undefined };
  expect(seenFrom(folder)).toMatchObject([{ name: 'trap' }]);
  expect(locate(own)).toMatchObject({ folder: join(modules, '@verbs/own') });
  for (const name of ['trap', '@verbs/own']) give(join(modules, name));
  expect(seenFrom(folder)).toEqual([]);
  expect(locate(own)).toEqual({});
});
