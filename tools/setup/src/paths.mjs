import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The project's root. */
export const root = resolve(import.meta.dirname, '../../..');

/** Downloads of the set-up for this checkout; ignored by git. */
export const toolsDirectory = join(root, '.tools');

/** The folders of the workspace's packages, in the order of their names: what is used, copied, proves and builds. */
export function packageDirectories() {
  const groups = ['packages', 'examples/apps', 'trials', 'tools'];
  const members = groups.flatMap((group) =>
    readdirSync(join(root, group))
      .sort()
      .map((name) => join(root, group, name)),
  );
  return [...members, join(root, 'examples')].filter((directory) => existsSync(join(directory, 'package.json')));
}
