import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { installMissing } from '../../setup/src/debian.mjs';
import { toolsDirectory } from '../../setup/src/paths.mjs';
import { say } from '../../setup/src/say.mjs';
import { mustRun } from '../../setup/src/shell.mjs';

/**
 * A folder with the files of Debian's smallest system and of some packages more. Nothing of it is configured, and nothing
 * has run, so that it can be for another processor.
 * @param {{ name: string, suite: string, arch: string, packages?: string[] }} what `name` is the folder's in .tools/
 */
export function debianRoot({ name, suite, arch, packages = [] }) {
  const root = join(toolsDirectory, name);
  if (existsSync(root)) return root;
  installMissing(['debootstrap']);
  say('Debian', `fetching ${suite} for ${arch}`);
  const partial = `${root}.partial`;
  const downloads = `${root}.downloads`;
  for (const folder of [partial, downloads]) rmSync(folder, { recursive: true, force: true });
  const include = packages.length === 0 ? [] : [`--include=${packages.join(',')}`];
  mustRun('debootstrap', [`--arch=${arch}`, '--variant=minbase', '--download-only', ...include, suite, downloads]);
  for (const folder of ['bin', 'sbin', 'lib', 'lib64']) {
    mkdirSync(join(partial, 'usr', folder), { recursive: true });
    symlinkSync(`usr/${folder}`, join(partial, folder));
  }
  const archives = join(downloads, 'var/cache/apt/archives');
  for (const file of readdirSync(archives).filter((each) => each.endsWith('.deb'))) {
    // Packages still have folders where the system has links.
    const unpack = 'dpkg-deb --fsys-tarfile "$1" | tar -x --keep-directory-symlink -C "$2"';
    mustRun('sh', ['-c', unpack, 'unpack', join(archives, file), partial]);
  }
  rmSync(downloads, { recursive: true });
  renameSync(partial, root);
  return root;
}
