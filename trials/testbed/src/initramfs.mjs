import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { tmpdir } from 'node:os';
import { Problem } from '../../../tools/setup/src/problem.mjs';

/** What the guest needs, each with what it depends on. */
const modules = [
  ...['virtio_pci', '9pnet_virtio', '9p', 'overlay', 'virtio_net', 'virtio_console', 'virtio-rng'],
  // rxe asks the kernel's crypto interface for crc32, which would load it by a helper that is not there.
  ...['crc32c_generic', 'crc32_generic', 'crc32-pclmul'],
  ...['ib_uverbs', 'ib_umad', 'rdma_ucm', 'rdma_rxe', 'dummy', 'veth', 'sch_netem'],
];

const init = join(import.meta.dirname, '../guest/init');

/**
 * Writes the root that the kernel starts from: busybox, the modules in the order to load them, and guest/init.
 * @param {string} unpacked the package of the kernel
 * @param {string} version
 * @param {string} file
 */
export function packInitramfs(unpacked, version, file) {
  const stamp = `${file}.stamp`;
  const wanted = JSON.stringify([modules, readFileSync(init, 'utf8')]);
  if (existsSync(file) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  const work = mkdtempSync(join(tmpdir(), 'verbs-initramfs-'));
  try {
    for (const folder of ['bin', 'modules']) mkdirSync(join(work, folder));
    copyFileSync('/bin/busybox', join(work, 'bin/busybox'));
    copyFileSync(init, join(work, 'init'));
    chmodSync(join(work, 'init'), 0o755);
    const order = modulesToLoad(unpacked, version);
    for (const path of order) copyModule(path, join(work, 'modules', nameOf(path)));
    writeFileSync(join(work, 'modules/order'), order.map((path) => `${nameOf(path)}\n`).join(''));
    const names = ['.', 'init', 'bin', 'bin/busybox', 'modules', 'modules/order'];
    names.push(...order.map((path) => `modules/${nameOf(path)}`));
    const { status, stdout } = spawnSync('cpio', ['-o', '-H', 'newc', '-R', '0:0', '--quiet'], {
      cwd: work,
      input: names.map((name) => `${name}\n`).join(''),
      maxBuffer: 1 << 28,
    });
    if (status !== 0) throw new Problem('cpio could not pack the first root of the guest');
    writeFileSync(join(work, 'packed'), stdout);
    copyFileSync(join(work, 'packed'), `${file}.${process.pid}`);
    renameSync(`${file}.${process.pid}`, file);
    writeFileSync(stamp, wanted);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * The name of a module's file without compression, which busybox does not undo.
 * @param {string} path
 */
function nameOf(path) {
  return basename(path, '.xz');
}

/**
 * @param {string} from
 * @param {string} to
 */
function copyModule(from, to) {
  if (!from.endsWith('.xz')) {
    copyFileSync(from, to);
    return;
  }
  const { status, stdout } = spawnSync('xz', ['-dc', from], { maxBuffer: 1 << 28 });
  if (status !== 0) throw new Problem(`xz cannot unpack ${from}`);
  writeFileSync(to, stdout);
}

/**
 * The files of the modules, each after those that it needs. What is built into the kernel has none.
 * @param {string} unpacked
 * @param {string} version
 */
function modulesToLoad(unpacked, version) {
  /** @type {Set<string>} */
  const files = new Set();
  for (const name of modules) {
    const { status, stdout, stderr } = spawnSync(
      'modprobe',
      ['--dirname', unpacked, '--set-version', version, '--show-depends', '--ignore-install', name],
      { encoding: 'utf8' },
    );
    if (status !== 0) throw new Problem(`the kernel has no module ${name}: ${stderr}`);
    for (const [, path = ''] of stdout.matchAll(/^insmod (\S+)/gm)) files.add(path);
  }
  return [...files];
}
