import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { outputOf } from '../../setup/src/shell.mjs';
import { crossLibraries } from './cross.mjs';
import { debianRoot } from './debian-root.mjs';

/** The first qemu whose user mode runs V8 and processes that end by a signal; Debian 12 has 7.2. */
const OLDEST_QEMU = 10;

/**
 * An emulated arm64 machine with Debian's C and C++ libraries: the words in front of a command that runs there.
 * @returns {string[]}
 */
export function arm64Machine() {
  const root = debianRoot({
    name: 'debian-arm64',
    suite: 'bookworm',
    arch: 'arm64',
    packages: ['libibverbs1', 'libstdc++6', 'zlib1g'],
  });
  // What C++ tests are linked with besides the C library.
  mkdirSync(crossLibraries, { recursive: true });
  for (const [name, file] of [
    ['libz.so', 'libz.so.1'],
    ['libibverbs.so.1', 'libibverbs.so.1'],
  ]) {
    const path = join(crossLibraries, name ?? '');
    const places = ['lib', 'usr/lib'].map((folder) => join(root, folder, 'aarch64-linux-gnu', file ?? ''));
    const found = places.find((place) => existsSync(place));
    if (found !== undefined && !existsSync(path)) symlinkSync(found, path);
  }
  return [qemu(), '-L', root];
}

function qemu() {
  const installed = 'qemu-aarch64';
  const version = /version (\d+)/.exec(outputOf(installed, ['--version']) ?? '')?.[1];
  if (version !== undefined && Number(version) >= OLDEST_QEMU) return installed;
  const arch = process.arch === 'arm64' ? 'arm64' : 'amd64';
  const root = debianRoot({ name: 'debian-qemu', suite: 'trixie', arch, packages: ['qemu-user'] });
  return join(root, 'usr/bin/qemu-aarch64');
}
