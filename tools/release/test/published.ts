import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { prebuildArm64 } from '../src/cross.mjs';
import { pack, packDependencies, type Tarball } from '../src/pack.mjs';
import { applications, type Package, publishedPackages } from '../src/packages.mjs';
import { prebuild } from '../src/prebuild.mjs';
import { serveRegistry } from '../src/registry.mjs';

/** All packages of the workspace as users get them, in a registry that the test runner serves. */
export interface Published {
  packages: Package[];
  /** Of these packages. */
  tarballs: Tarball[];
  registry: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    published: Published;
  }
}

/** Packs what is built, and serves it with what it depends on, before the first test. */
export default async function publish(project: TestProject): Promise<() => Promise<void>> {
  const packages = publishedPackages();
  const folder = mkdtempSync(join(tmpdir(), 'verbs-published-'));
  const native = packages.filter((each) => each.native);
  for (const each of native) prebuild(each);
  if (process.env['VERBS_PACKED_ARM64'] === '1') prebuildArm64(native, process.env);
  const tarballs = packages.map((each) => pack(each, join(folder, 'own'), process.env));
  const apps = applications().map((each) => pack(each, join(folder, 'apps'), process.env));
  const others = packDependencies(packages, join(folder, 'others'));
  const registry = await serveRegistry([...tarballs, ...apps, ...others]);
  project.provide('published', { packages, tarballs, registry: registry.url });
  return async () => {
    await registry.close();
    rmSync(folder, { recursive: true });
  };
}
