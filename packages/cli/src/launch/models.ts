import { createRequire } from 'node:module';

/** Packages that may bring a library for the software NIC, with the `kind=` of its devices if it has some. */
export const MODEL_PACKAGES: readonly { name: string; kind?: string }[] = [
  { name: '@verbs/mlx5', kind: 'mlx5' },
  { name: '@verbs/hbl', kind: 'hbl' },
  { name: '@verbs/doca-comm', kind: 'doca' },
  { name: '@verbs/rdmacm' },
];

/** The kinds of the installed packages. Nothing of the packages is loaded. */
export function installedKinds(from = import.meta.url): string[] {
  const { resolve } = createRequire(from);
  const isInstalled = (name: string) => {
    try {
      return resolve(`${name}/package.json`) !== '';
    } catch {
      return false;
    }
  };
  return MODEL_PACKAGES.flatMap(({ name, kind }) => (kind !== undefined && isInstalled(name) ? [kind] : []));
}
