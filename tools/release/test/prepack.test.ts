// A package without its native files cannot be packed.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { root } from '../../setup/src/paths.mjs';
import { publishedPackages, readManifest } from '../src/packages.mjs';

const SCRIPT = join(root, 'tools/release/prepack.mjs');

test('packing is refused without prebuilt files, with the command that makes them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'verbs-prepack-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const packs = () => {
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT], { cwd: folder, encoding: 'utf8' });
    return { status, stderr };
  };
  expect(packs()).toEqual({
    status: 1,
    stderr: expect.stringMatching(/has no prebuilt files.*: npm run prebuilds\n$/) as string,
  });
  mkdirSync(join(folder, 'prebuilds/linux-x64-glibc'), { recursive: true });
  expect(packs()).toMatchObject({ status: 1 });
  writeFileSync(join(folder, 'prebuilds/linux-x64-glibc/toy.node'), '');
  expect(packs()).toEqual({ status: 0, stderr: '' });
});

test('every package with native files asks for them', () => {
  const native = publishedPackages().filter((each) => each.native);
  expect(native.map(({ folder }) => readManifest(folder).scripts?.['prepack'])).toEqual(
    native.map(() => 'node ../../tools/release/prepack.mjs'),
  );
});
