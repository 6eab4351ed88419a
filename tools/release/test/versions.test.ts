// What `npx changeset version` does to the packages, in a copy of their manifests.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { packageDirectories, root } from '../../setup/src/paths.mjs';
import { publishedPackages, readManifest } from '../src/packages.mjs';

const changesets = createRequire(join(root, 'package.json')).resolve('@changesets/cli/bin.js');

/** The versions of the packages after a change of one. */
function versionsAfter(changed: string, kind: 'patch' | 'minor'): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'verbs-versions-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const manifests = packageDirectories().map((each) => join(relative(root, each), 'package.json'));
  for (const file of ['package.json', 'pnpm-workspace.yaml', '.changeset/config.json', ...manifests]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file));
  }
  writeFileSync(join(folder, '.changeset/change.md'), `---\n'${changed}': ${kind}\n---\n\nA change.\n`);
  execFileSync(process.execPath, [changesets, 'version'], { cwd: folder, stdio: 'ignore' });
  expect(readFileSync(join(folder, changed.replace('@verbs/', 'packages/'), 'CHANGELOG.md'), 'utf8')).toContain(
    'A change.',
  );
  const after = publishedPackages().map(({ name, folder: from, version }) => {
    const { version: now } = readManifest(join(folder, relative(root, from)));
    return [name, now === version ? 'same' : now] as const;
  });
  return Object.fromEntries(after.filter(([, version]) => version !== 'same'));
}

const next = (name: string, part: 1 | 2) => {
  const numbers = (publishedPackages().find((each) => each.name === name)?.version ?? '').split('.').map(Number);
  return numbers.map((number, i) => (i < part ? number : i === part ? number + 1 : 0)).join('.');
};

test('a patch of @verbs/hbl raises it alone', () => {
  expect(versionsAfter('@verbs/hbl', 'patch')).toEqual({ '@verbs/hbl': next('@verbs/hbl', 2) });
});

test('new features of @verbs/core raise no vendor package', () => {
  // The command depends on it by ^, which a minor version below 1.0 leaves.
  expect(versionsAfter('@verbs/core', 'minor')).toEqual({
    '@verbs/core': next('@verbs/core', 1),
    '@verbs/cli': next('@verbs/cli', 2),
  });
});
