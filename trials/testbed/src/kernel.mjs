import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import process from 'node:process';
import { toolsDirectory } from '../../../tools/setup/src/paths.mjs';
import { Problem } from '../../../tools/setup/src/problem.mjs';
import { outputOf } from '../../../tools/setup/src/shell.mjs';
import { packInitramfs } from './initramfs.mjs';

/**
 * A kernel to boot.
 * @typedef {object} Kernel
 * @property {string} version as in `uname -r`
 * @property {string} image the uncompressed kernel
 * @property {string} initramfs
 */

/** How kernels are compressed, by the first bytes: Debian's by xz until 12, by zstd since then. */
const compressions = [
  { magic: Buffer.from('fd377a585a00', 'hex'), program: 'xz', args: ['-dc', '--single-stream'] },
  { magic: Buffer.from('28b52ffd', 'hex'), program: 'zstd', args: ['-dcq'] },
];

/** The package file of a kernel to boot in place of Debian's current one. */
const chosen = process.env['VERBS_TESTBED_KERNEL'];

/** @returns {Kernel} Debian's current kernel, or the chosen one, unpacked by the first call */
export function debianKernel() {
  const name = chosen === undefined ? kernelPackage() : basename(chosen).replace(/_.*/, '');
  const version = name.replace('linux-image-', '');
  const folder = join(toolsDirectory, 'testbed', version);
  if (!existsSync(join(folder, 'vmlinux'))) prepare(name, version, folder);
  const initramfs = join(folder, 'initramfs');
  packInitramfs(join(folder, 'root'), version, initramfs);
  return { version, image: join(folder, 'vmlinux'), initramfs };
}

/** The package that Debian's meta package of kernels names. */
function kernelPackage() {
  const text = outputOf('apt-cache', ['depends', 'linux-image-amd64']) ?? '';
  const name = /Depends: (linux-image-\S+)/.exec(text)?.[1];
  if (name === undefined) {
    throw new Problem('apt-cache knows no linux-image-amd64: this needs Debian on x86-64, and apt-get update');
  }
  return name;
}

/**
 * Makes the folder in one step, so that a run that was interrupted leaves none behind.
 * @param {string} name
 * @param {string} version
 * @param {string} folder
 */
function prepare(name, version, folder) {
  mkdirSync(join(folder, '..'), { recursive: true });
  const work = mkdtempSync(`${folder}-`);
  try {
    run('dpkg-deb', ['-x', chosen === undefined ? download(name, work) : resolve(chosen), 'root'], work);
    for (const deb of readdirSync(work).filter((file) => file.endsWith('.deb'))) rmSync(join(work, deb));
    // Since Debian 13 a package has the modules where /lib leads to.
    if (!existsSync(join(work, 'root/lib/modules'))) symlinkSync('usr/lib', join(work, 'root/lib'));
    run('depmod', ['-b', join(work, 'root'), version], work);
    writeFileSync(join(work, 'vmlinux'), uncompressed(join(work, 'root/boot', `vmlinuz-${version}`)));
    renameSync(work, folder); // fails if the folder is there
  } catch (error) {
    rmSync(work, { recursive: true, force: true });
    // Another process was faster, and may be reading its folder by now.
    if (!existsSync(join(folder, 'vmlinux'))) throw error;
  }
}

/**
 * @param {string} name
 * @param {string} folder
 */
function download(name, folder) {
  run('apt-get', ['download', '-q', name], folder);
  const deb = readdirSync(folder).find((file) => file.endsWith('.deb'));
  if (deb === undefined) throw new Problem(`apt-get downloaded no ${name}`);
  return deb;
}

/**
 * The kernel inside a compressed image: without the decompression, an emulated machine starts in half the time.
 * @param {string} file
 */
function uncompressed(file) {
  const image = readFileSync(file);
  for (const { magic, program, args } of compressions) {
    // The bytes of the code in front may look like a stream.
    for (let start = image.indexOf(magic); start >= 0; start = image.indexOf(magic, start + 1)) {
      // A number follows the stream: the programs complain of it, after they have unpacked.
      const { stdout, error } = spawnSync(program, args, { input: image.subarray(start), maxBuffer: 1 << 28 });
      if (error === undefined && stdout.subarray(1, 4).toString() === 'ELF') return stdout;
    }
  }
  throw new Problem(`${basename(file)} has no kernel that xz or zstd can unpack`);
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {string} cwd
 */
function run(program, args, cwd) {
  const { status, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (error) throw new Problem(`cannot run ${program}: ${error.message}`);
  if (status !== 0) throw new Problem(`${program} ${args.join(' ')} failed:\n${stderr}`);
}
