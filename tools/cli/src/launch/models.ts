import { createRequire } from 'node:module';

/** Packages that may bring a vendor's model for the software NIC, with the `kind=` of its devices. */
export const MODEL_PACKAGES = [
  { name: '@verbs/mlx5', kind: 'mlx5' },
  { name: '@verbs/hbl', kind: 'hbl' },
  { name: '@verbs/doca-comm', kind: 'doca' },
] as const;

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
  return MODEL_PACKAGES.filter(({ name }) => isInstalled(name)).map(({ kind }) => kind);
}
