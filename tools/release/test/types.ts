import { join } from 'node:path';
import { root } from '../../setup/src/paths.mjs';
import type { Package } from '../src/packages.mjs';
import type { Ended, Project } from './project.js';

/** How TypeScript finds the declarations of packages. */
export type Resolution = 'nodenext' | 'node16' | 'bundler';

/** Compiles a strict program that imports everything of the installed packages, declarations included. */
export function compileTypes(project: Project, packages: Package[], resolution: Resolution): Ended {
  const names = packages.map(({ name }) => name).filter((name) => name !== '@verbs/cli');
  const imports = [...names, '@verbs/core/provider', '@verbs/core/rendezvous', '@verbs/core/stream'].map(
    (name, i) => `import * as m${i} from '${name}';`,
  );
  project.write(
    'types.ts',
    `${imports.join('\n')}
import { type Context, listDevices, openDevice, QpType } from '@verbs/core';
const ctx: Context = openDevice(listDevices()[0]);
// @ts-expect-error: a name that is not there
ctx.nothing();
export const all = [${imports.map((_, i) => `m${i}`).join(', ')}, QpType.RC];
`,
  );
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'ES2023',
    lib: ['ES2023', 'ESNext.Disposable'],
    module: resolution === 'bundler' ? 'preserve' : resolution,
    moduleResolution: resolution,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    skipLibCheck: false,
  };
  project.write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['types.ts'] }));
  return project.node([join(root, 'node_modules/typescript/lib/tsc.js')]);
}
