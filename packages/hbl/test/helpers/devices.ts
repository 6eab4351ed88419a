import {
  AccessFlags,
  type CompletionQueue,
  type Context,
  type MemoryRegion,
  Mtu,
  type ProtectionDomain,
  type QpAttr,
  QpState,
  QpType,
  type QueuePair,
  VerbsError,
  WcStatus,
  type WorkCompletion,
  WrOpcode,
  SendFlags,
} from '@verbs/core';
import { configure } from '@verbs/soft';
import { onTestFinished } from 'vitest';
import { EncapType, type HblQpAttr, modifyQp, type OpenAttr, openDevice, setPortEx } from '../../src/index.js';

export type Profile = 'gaudi' | 'gaudi2';
export const PROFILES: readonly Profile[] = ['gaudi', 'gaudi2'];
const ALL_PORTS: OpenAttr = { portsMask: 0 };
const ACCESS = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ;

/** Two devices of the profile, hbl_0 and hbl_1, not open yet. */
export function configureDevices(profile: Profile = 'gaudi', options = ''): void {
  const more = `profile=${profile}${options === '' ? '' : `,${options}`}`;
  configure(`hbl_0,kind=hbl,${more};hbl_1,kind=hbl,${more};soft0`);
}

/** Opens a device, to be closed after the test. A default open has no attributes. */
export function open(name = 'hbl_0', attr: OpenAttr | 'default' = ALL_PORTS): Context {
  const ctx = attr === 'default' ? openDevice(name) : openDevice(name, attr);
  onTestFinished(() => {
    ctx.close();
  });
  return ctx;
}

/** A fresh device whose port 1 is set up. */
export function ready(profile: Profile = 'gaudi', options = ''): Context {
  configureDevices(profile, options);
  const ctx = open();
  setPortEx(ctx, { portNum: 1 });
  return ctx;
}

/** The code of the VerbsError that `call` throws; undefined if it throws none. */
export function codeOf(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (error instanceof VerbsError) return error.code;
    throw error;
  }
}

/** The bytes of a tunnel header. */
export const header = (size: number) => new Uint8Array(size).fill(0xab);

/** The attributes of an encapsulation over UDP. */
export const udp = (size = 32, portNum = 1) => ({
  portNum,
  encapType: EncapType.ENC_OVER_UDP,
  udpDstPort: 4789,
  header: header(size),
});

export interface End {
  ctx: Context;
  pd: ProtectionDomain;
  cq: CompletionQueue;
  mr: MemoryRegion;
  qp: QueuePair;
}

/** One of everything on an open device. */
export function end(ctx: Context, { bytes = 65536, maxSendWr = 64, cq = ctx.createCq(256) } = {}): End {
  const pd = ctx.allocPd();
  const mr = pd.allocMr(bytes, ACCESS);
  const cap = { maxSendWr, maxRecvWr: 16, maxSendSge: 1, maxRecvSge: 1 };
  return { ctx, pd, cq, mr, qp: pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap }) };
}

export const toInit = (portNum = 1): QpAttr => ({
  qpState: QpState.INIT,
  pkeyIndex: 0,
  portNum,
  qpAccessFlags: ACCESS,
});

export const toRtr = (peer: End, portNum = 1): QpAttr => ({
  qpState: QpState.RTR,
  pathMtu: Mtu.MTU_1024,
  destQpNum: peer.qp.qpNum,
  rqPsn: 0,
  maxDestRdAtomic: 4,
  minRnrTimer: 12,
  ahAttr: { portNum, grh: { dgid: peer.ctx.queryGid(portNum, 0), sgidIndex: 0, hopLimit: 64 } },
});

/** Gives up after about half a second. */
export const toRts = (): QpAttr => ({
  qpState: QpState.RTS,
  sqPsn: 0,
  timeout: 14,
  retryCnt: 3,
  rnrRetry: 7,
  maxRdAtomic: 4,
});

export interface Extras {
  init?: HblQpAttr;
  rtr?: HblQpAttr;
  rts?: HblQpAttr;
}

/** Brings `from` to RTS, connected to `to`. */
export function connect(from: End, to: End, { init, rtr, rts }: Extras = {}, portNum = 1): void {
  modifyQp(from.qp, toInit(portNum), init);
  modifyQp(from.qp, toRtr(to, portNum), rtr);
  modifyQp(from.qp, toRts(), rts);
}

/** The next completion; gives up after a time that only a hang can take. */
export async function completion(cq: CompletionQueue): Promise<WorkCompletion> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const [wc] = cq.poll(1);
    if (wc !== undefined) return wc;
    if (Date.now() > deadline) throw new Error('no completion came');
    await new Promise(setImmediate);
  }
}

/** Writes `text` from one memory into the other, and says how it ended. */
export async function write(from: End, to: End, text: string): Promise<string> {
  from.mr.bytes.set(new TextEncoder().encode(text));
  from.qp.postSend({
    opcode: WrOpcode.RDMA_WRITE,
    sendFlags: SendFlags.SIGNALED,
    sgList: [{ mr: from.mr, length: text.length }],
    remoteAddr: to.mr.addr,
    rkey: to.mr.rkey,
  });
  const { status } = await completion(from.cq);
  return status === WcStatus.SUCCESS ? 'SUCCESS' : (Object.keys(WcStatus)[status] ?? String(status));
}

export const textIn = (to: End, length: number) => new TextDecoder().decode(to.mr.bytes.slice(0, length));
