import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SendFlags, WcStatus, WrOpcode } from '@verbs/core';
import { openDevice } from '@verbs/hbl';
import { configure, softNic } from '@verbs/soft';
import { completions } from '../rc/completions.js';
import { type CapturedPacket, packets } from '../capture-files/index.js';
import { completionFailure } from '../rc/index.js';
import { End } from './end.js';
import { TUNNELS, type TunnelName } from './tunnels.js';

const SENDER = 'hbl_0';
const RECEIVER = 'hbl_1';
const MEMORY_BYTES = 4096;

/** The outcome of an RDMA WRITE through a tunnel. */
export interface Delivery {
  tunnel: TunnelName;
  /** The devices' addresses. */
  from: string;
  to: string;
  /** The receiver's memory afterwards. */
  arrived: string;
  /** The packets of the sender's port, in order. */
  packets: CapturedPacket[];
}

/**
 * Sends `text` by RDMA WRITE through an encapsulation, between two devices of the model in this process.
 *
 * It configures the software NIC of this process, so no other device of it may be open.
 */
export async function deliver(tunnel: TunnelName, text: string, signal: AbortSignal): Promise<Delivery> {
  const directory = mkdtempSync(join(tmpdir(), 'verbs-tunnel-'));
  // Within the process, so that GRE needs no raw socket.
  configure([SENDER, RECEIVER].map((name) => `${name},kind=hbl,ports=1,link=process`).join(';'));
  try {
    const file = join(directory, 'packets.pcapng');
    const delivered = await write(tunnel, text, file, signal);
    return { tunnel, ...delivered, packets: packets(file) };
  } finally {
    configure(null);
    rmSync(directory, { recursive: true, force: true });
  }
}

async function write(tunnel: TunnelName, text: string, file: string, signal: AbortSignal) {
  // Closing a context closes its objects.
  using senders = openDevice(SENDER);
  using receivers = openDevice(RECEIVER);
  // Only now: opening a device registers its model with the software NIC.
  using capture = softNic(SENDER).capture(file);
  const sender = new End(senders, TUNNELS[tunnel], MEMORY_BYTES);
  const receiver = new End(receivers, TUNNELS[tunnel], MEMORY_BYTES);
  sender.connect(receiver);
  receiver.connect(sender);
  const data = new TextEncoder().encode(text);
  sender.mr.bytes.set(data);
  sender.qp.postSend({
    opcode: WrOpcode.RDMA_WRITE,
    sendFlags: SendFlags.SIGNALED,
    sgList: [{ mr: sender.mr, length: data.length }],
    remoteAddr: receiver.mr.addr,
    rkey: receiver.mr.rkey,
  });
  const [wc] = await completions(sender.cq, 1, signal);
  capture.stop();
  if (wc !== undefined && wc.status !== WcStatus.SUCCESS) throw completionFailure(wc, 'the other end of the tunnel');
  // A copy: the memory is freed with its device.
  const arrived = new TextDecoder().decode(receiver.mr.bytes.slice(0, data.length));
  return { from: sender.gid, to: receiver.gid, arrived };
}
