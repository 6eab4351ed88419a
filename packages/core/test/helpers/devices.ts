import { onTestFinished } from 'vitest';
import {
  AccessFlags,
  type CompletionChannel,
  type CompletionQueue,
  type Context,
  type MemoryRegion,
  Mtu,
  openDevice,
  type ProtectionDomain,
  QpType,
  type QueuePair,
  type WorkCompletion,
} from '../../src/index.js';

export const ALL_ACCESS =
  AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;
export const QKEY = 0x1234;

/** What most tests need. Closed after each test by its context. */
export interface Bench {
  ctx: Context;
  pd: ProtectionDomain;
  channel: CompletionChannel;
  cq: CompletionQueue;
  mr: MemoryRegion;
}

/** The device that VERBS_TEST_DEVICE names, else the software NIC. */
export const deviceName = process.env['VERBS_TEST_DEVICE'] ?? 'soft0';

/** The device; closed after the test. */
export function open(): Context {
  const ctx = openDevice(deviceName);
  onTestFinished(() => {
    ctx.close();
  });
  return ctx;
}

export function bench(): Bench {
  const ctx = open();
  const pd = ctx.allocPd();
  const channel = ctx.createCompChannel();
  return { ctx, pd, channel, cq: ctx.createCq(256, { channel }), mr: pd.allocMr(65536, ALL_ACCESS) };
}

const CAP = { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 4, maxRecvSge: 4 };

export function createQp({ pd, cq }: Pick<Bench, 'pd' | 'cq'>, qpType: QpType = QpType.RC, cap = CAP): QueuePair {
  return pd.createQp({ qpType, sendCq: cq, recvCq: cq, cap });
}

/** Two connected queue pairs of one device; the second may have a completion queue of its own. */
export function pair(b: Pick<Bench, 'ctx' | 'pd' | 'cq'>, cap = CAP, cq = b.cq): [QueuePair, QueuePair] {
  const [one, two] = [createQp(b, QpType.RC, cap), createQp({ ...b, cq }, QpType.RC, cap)];
  const gid = b.ctx.defaultGid().gid;
  const common = { pathMtu: Mtu.MTU_1024, access: ALL_ACCESS };
  one.connect({ ...common, remote: { qpNum: two.qpNum, gid, psn: 200 }, psn: 100 });
  two.connect({ ...common, remote: { qpNum: one.qpNum, gid, psn: 100 }, psn: 200 });
  return [one, two];
}

/** A UD queue pair that is ready. */
export function datagram(b: Bench): QueuePair {
  const qp = createQp(b, QpType.UD);
  qp.activate({ qkey: QKEY });
  return qp;
}

/** The next `count` completions. */
export async function take(cq: CompletionQueue, count: number): Promise<WorkCompletion[]> {
  const list: WorkCompletion[] = [];
  while (list.length < count) {
    await cq.wait();
    list.push(...cq.poll(count - list.length));
  }
  return list;
}
