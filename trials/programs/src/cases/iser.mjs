import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { needing, words } from './case.mjs';

/** @import { Case } from './case.mjs' */
/** @import { Place } from '../places.mjs' */

const target = join(import.meta.dirname, '../../ends/iser-target.mjs');
const name = 'iqn.2026-01.example:disk';
/** As QEMU calls itself. */
const initiator = 'iqn.2008-11.org.linux-kvm';
const diskSize = 32 << 20;

/** The longest request of libiscsi's iSER has 256 KiB. */
const sizes = [512, 4096, 65_536, 262_144];

/**
 * A disk of tgt, over RDMA. Its initiators are libiscsi's, and QEMU's on libiscsi.
 * @param {Place} place
 * @param {string} folder
 * @returns {Generator<Case>}
 */
export function* iserCases({ server: { address } }, folder) {
  const disk = join(folder, 'disk');
  const expected = join(folder, 'disk-as-written');
  const bytes = Buffer.alloc(diskSize);
  writeFileSync(disk, bytes);
  /** @type {string[]} */
  const writes = [];
  for (let i = 0, at = 0; ; ++i) {
    const size = sizes[i % sizes.length] ?? 0;
    if (at + size > diskSize) break;
    const pattern = 1 + (i % 255);
    bytes.fill(pattern, at, at + size);
    writes.push(`write -P ${pattern} ${at} ${size}`);
    at += size;
  }
  writeFileSync(expected, bytes);
  const reads = writes.map((words) => words.replace('write', 'read'));
  const url = `iser://${address}/${name}/1`;
  const commands = [...writes, ...reads].map((words) => `-c '${words}'`).join(' ');
  const common = {
    program: 'tgt',
    server: [process.execPath, target, name, disk, initiator],
    ready: /^ready$/m,
    stays: true,
    ...needing('tgtd', 'iscsi-inq', 'qemu-io'),
  };
  yield {
    ...common,
    name: 'iSER, what its disk is',
    client: words(`iscsi-inq -i ${initiator} ${url}`),
    prints: /DIRECT_ACCESS/,
  };
  yield {
    ...common,
    name: 'iSER, a disk is written and read',
    // What the target has is compared by its own file, too.
    client: ['sh', '-c', `qemu-io -f raw ${commands} ${url} && cmp ${expected} ${disk}`],
    prints: /^(?![^]*failed)[^]*read 262144\/262144/,
  };
}
