import { join } from 'node:path';
import { examine, runningTarget } from '@verbs/native-files';
import { providers } from '../providers.js';
import { type Finding, fail, ok } from './finding.js';

/** What runs this, and the installed packages with their native parts. Packages that are not installed are no findings. */
export function checkPackages(from = import.meta.url): Finding[] {
  const own = ['@verbs/core', '@verbs/soft'].flatMap((name) => checkPackage(name, from));
  return [
    host(),
    ...own,
    ...providers().flatMap(({ name, folder }) => checkPackage(name, join(folder, 'package.json'))),
  ];
}

function host(): Finding {
  const { platform, arch, libc } = runningTarget();
  return ok(
    'Node.js',
    `${process.versions.node}, ${[platform, arch, libc].filter((part) => part !== undefined).join(' ')}`,
  );
}

function checkPackage(name: string, from: string): Finding[] {
  const found = examine(name, from);
  if (found === undefined) return [];
  const { version, file, reason } = found;
  if (reason === undefined) return [ok(name, `${version}, native part ${file ?? ''}`)];
  const [problem, remedy] = reason;
  return [fail(name, `${version}: ${problem}`, remedy)];
}
