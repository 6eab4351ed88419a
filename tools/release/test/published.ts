import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { prebuildArm64 } from '../src/cross.mjs';
import { pack, packDependencies, type Tarball, tarballAt } from '../src/pack.mjs';
import { applications, type Package, publishedPackages } from '../src/packages.mjs';
import { prebuild, type Prebuilt } from '../src/prebuild.mjs';
import { serveRegistry } from '../src/registry.mjs';

/** All packages of the workspace as users get them, in a registry that the test runner serves. */
export interface Published {
  packages: Package[];
  /** Of these packages. */
  tarballs: Tarball[];
  registry: string;
  prebuilt: Prebuilt[];
}

/** A version of @verbs/core that no package accepts any more. */
export const OLD_CORE = '0.0.9';

declare module 'vitest' {
  interface ProvidedContext {
    published: Published;
  }
}

/**
 * The package of an archive in an older version: what an application has that did not update.
 */
function older({ manifest, path }: Tarball, version: string, into: string): Tarball {
  const folder = join(into, 'older');
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-xzf', path, '-C', folder]);
  writeFileSync(join(folder, 'package/package.json'), JSON.stringify({ ...manifest, version }));
  const made = join(into, `older-${version}.tgz`);
  execFileSync('tar', ['-czf', made, '-C', folder, 'package']);
  return tarballAt(made);
}

/** Packs what is built, and serves it with what it depends on, before the first test. */
export default async function publish(project: TestProject): Promise<() => Promise<void>> {
  const packages = publishedPackages();
  const folder = mkdtempSync(join(tmpdir(), 'verbs-published-'));
  const native = packages.filter((each) => each.native);
  const prebuilt = native.flatMap((each) => prebuild(each, { forOthers: false }));
  if (process.env['VERBS_PACKED_ARM64'] === '1') prebuildArm64(native, process.env);
  const tarballs = packages.map((each) => pack(each, join(folder, 'own'), process.env));
  const apps = applications().map((each) => pack(each, join(folder, 'apps'), process.env));
  const others = packDependencies(packages, join(folder, 'others'));
  const old = tarballs
    .filter(({ manifest }) => manifest.name === '@verbs/core')
    .map((each) => older(each, OLD_CORE, folder));
  // The last one of a name is the latest.
  const registry = await serveRegistry([...old, ...tarballs, ...apps, ...others]);
  project.provide('published', { packages, tarballs, registry: registry.url, prebuilt });
  return async () => {
    await registry.close();
    rmSync(folder, { recursive: true });
  };
}
