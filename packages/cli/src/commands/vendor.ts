import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Failure, messageOf } from '@verbs/lib/failure';

/** Loads a module that needs a vendor's package, which is not a dependency of the command. */
export async function loadVendor<T>(name: string, module: () => Promise<T>): Promise<T> {
  try {
    return await module();
  } catch (error) {
    throw new Failure(`${name} cannot be loaded: ${messageOf(error)}`, {
      hint: installHint(name, fileURLToPath(import.meta.url)),
      cause: error,
    });
  }
}

/** What puts a package beside this command, which is installed at `path`: for a project, for everybody, or by npx. */
export function installHint(name: string, path: string): string {
  const [folder, inside] = path.split('/node_modules/', 2);
  if (folder === undefined || inside === undefined) return 'in a checkout: npm run setup';
  if (/\/_npx\/[^/]+$/.test(folder)) return `npx -p @verbs/cli -p ${name} verbs …`;
  // The folder of global packages, PREFIX/lib, is no package.
  if (existsSync(join(folder, 'package.json'))) return `npm install ${name}, in ${folder}`;
  return `npm install -g ${name}, beside @verbs/cli`;
}
