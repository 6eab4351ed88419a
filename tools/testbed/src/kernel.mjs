import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { toolsDirectory } from '../../setup/src/paths.mjs';
import { Problem } from '../../setup/src/problem.mjs';
import { outputOf } from '../../setup/src/shell.mjs';
import { packInitramfs } from './initramfs.mjs';

/**
 * A kernel to boot.
 * @typedef {object} Kernel
 * @property {string} version as in `uname -r`
 * @property {string} image the uncompressed kernel
 * @property {string} initramfs
 */

/** The magic number of an xz stream. */
const xzMagic = Buffer.from('fd377a585a00', 'hex');

/** @returns {Kernel} Debian's current kernel, downloaded and unpacked by the first call */
export function debianKernel() {
  const name = kernelPackage();
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
    run('apt-get', ['download', '-q', name], work);
    const deb = readdirSync(work).find((file) => file.endsWith('.deb'));
    if (deb === undefined) throw new Problem(`apt-get downloaded no ${name}`);
    run('dpkg-deb', ['-x', deb, 'root'], work);
    rmSync(join(work, deb));
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
 * The kernel inside a compressed image: without the decompression, an emulated machine starts in half the time.
 * @param {string} file
 */
function uncompressed(file) {
  const image = readFileSync(file);
  const start = image.indexOf(xzMagic);
  if (start < 0) throw new Problem(`${basename(file)} is not compressed by xz`);
  const { stdout } = spawnSync('xz', ['-dc', '--single-stream'], {
    input: image.subarray(start),
    maxBuffer: 1 << 28,
  });
  if (stdout.subarray(1, 4).toString() !== 'ELF')
    throw new Problem(`${basename(file)} has no kernel that xz can unpack`);
  return stdout;
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
