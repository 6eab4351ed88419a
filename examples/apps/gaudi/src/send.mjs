import { setImmediate as nextTurn } from 'node:timers/promises';
import { AccessFlags, wcStatusText } from '@verbs/core';
import * as hbl from '@verbs/hbl';
import { DEPTH, openLine } from './line.mjs';

/** @import { Context, MemoryRegion, ProtectionDomain } from '@verbs/core' */

/**
 * The device's memory: where messages come from, and where they go to.
 * @typedef {{ localKey: number, remoteKey: number, localAddr: bigint, remoteAddr: bigint, mr?: MemoryRegion }} Memory
 */

/**
 * What a transfer did.
 * @typedef {object} Transfer
 * @property {string} tunnel
 * @property {number} from
 * @property {number} to
 * @property {number} messages
 * @property {number} bytes of a message
 * @property {number} doorbells
 * @property {number} seconds
 * @property {boolean | undefined} intact whether the last message arrived as it was sent; unknown in the accelerator's memory
 */

/**
 * Sends messages by RDMA WRITE from a port to another one, through an encapsulation, announced by doorbells.
 * @param {Context} ctx
 * @param {object} options
 * @param {string} options.kind
 * @param {number} options.id
 * @param {number} options.from
 * @param {number} options.to
 * @param {number} options.count
 * @param {number} options.bytes
 * @param {{ address: bigint, key: number } | undefined} options.memory of the accelerator; registered here if not given
 * @param {(done: number) => void} [options.onProgress]
 * @returns {Promise<Transfer>}
 */
export async function send(ctx, { kind, id, from, to, count, bytes, memory, onProgress }) {
  const pd = ctx.allocPd();
  const where = memory === undefined ? register(pd, bytes) : inAccelerator(memory, bytes);
  const keys = { localKey: where.localKey, remoteKey: where.remoteKey };
  const { sender, sendQueue, qpNum, fifo } = openLine(ctx, pd, { from, to, kind, id, keys });
  const start = performance.now();
  let written = 0;
  let done = 0;
  let doorbells = 0;
  while (done < count) {
    const first = written;
    let index = 0;
    for (; written < count && written - done < sendQueue.entries; written++) {
      if (where.mr !== undefined && done === written) fill(where.mr, bytes, written);
      index = sendQueue.write(written, {
        opcode: hbl.WqeOpcode.WRITE,
        flags: hbl.WqeFlags.SIGNALED,
        tag: written,
        length: bytes,
        localAddr: where.localAddr,
        remoteAddr: where.remoteAddr,
      });
    }
    if (written > first) {
      // One doorbell announces all entries up to its index.
      while (fifo.push({ index, qpNum, portNum: from }) === 0) await fifo.space();
      doorbells += 1;
    }
    await nextTurn();
    done = completed(sender.cq, done);
    onProgress?.(done);
  }
  const seconds = (performance.now() - start) / 1000;
  const intact = where.mr && Buffer.compare(where.mr.bytes.slice(0, bytes), where.mr.bytes.slice(bytes)) === 0;
  return { tunnel: kind, from, to, messages: done, bytes, doorbells, seconds, intact };
}

/**
 * The number of messages that have completed, read in the mapped queue.
 * @param {Parameters<typeof hbl.readCq>[0]} cq
 * @param {number} before
 */
function completed(cq, before) {
  const { producerIndex, entries } = hbl.readCq(cq);
  const fresh = Math.min(entries.length, producerIndex - before, DEPTH);
  const failed = entries.slice(entries.length - fresh).find(({ status }) => status !== 0);
  if (failed !== undefined) {
    throw new Error(`message ${failed.tag} failed: ${wcStatusText(failed.status)} (${failed.status})`);
  }
  return producerIndex;
}

/** @param {ProtectionDomain} pd @param {number} bytes @returns {Memory} */
function register(pd, bytes) {
  let mr;
  try {
    mr = pd.allocMr(2 * bytes, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
  } catch (error) {
    throw new Error(
      `${error instanceof Error ? error.message : String(error)}; the memory of this device is that of the accelerator: ` +
        'pass what its driver gave, as --memory ADDRESS,KEY',
      { cause: error },
    );
  }
  return { localKey: mr.lkey, remoteKey: mr.rkey, localAddr: mr.addr, remoteAddr: mr.addr + BigInt(bytes), mr };
}

/** @param {{ address: bigint, key: number }} memory @param {number} bytes @returns {Memory} */
function inAccelerator({ address, key }, bytes) {
  return { localKey: key, remoteKey: key, localAddr: address, remoteAddr: address + BigInt(bytes) };
}

/** @param {MemoryRegion} mr @param {number} bytes @param {number} seed */
function fill(mr, bytes, seed) {
  for (let i = 0; i < bytes; i++) mr.bytes[i] = (i + seed) & 0xff;
}
