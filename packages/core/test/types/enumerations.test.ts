import { describe, expect, it } from 'vitest';
import {
  AccessFlags,
  type Context,
  enumName,
  flagNames,
  Mtu,
  type ProtectionDomain,
  QpState,
  QpType,
  type QueuePair,
  SendFlags,
  WrOpcode,
} from '../../src/index.js';

/** Compiled, never run: what programs may write, and what they may not. */
export function programs(
  ctx: Context,
  pd: ProtectionDomain,
  rc: QueuePair<typeof QpType.RC>,
  ud: QueuePair<typeof QpType.UD>,
  any: QueuePair,
  fromC: number,
): void {
  // An MTU is no number of bytes, a state is no right, and a right is no flag of a request.
  // @ts-expect-error 4096 is no Mtu: it is Mtu.MTU_4096
  any.modify({ pathMtu: 4096 });
  // @ts-expect-error a state is no MTU
  any.modify({ pathMtu: QpState.RTS });
  // @ts-expect-error a state is no right
  pd.allocMr(64, QpState.RTS);
  // @ts-expect-error a state is no right
  any.connect({ remote: { qpNum: 17 }, access: QpState.RTS });
  // @ts-expect-error rights are or-ed from members
  pd.allocMr(64, 3);
  // @ts-expect-error a right is no flag of a request
  any.postSend({ opcode: WrOpcode.SEND, sendFlags: AccessFlags.REMOTE_WRITE });
  // @ts-expect-error a flag of a request is no right
  any.modify({ qpAccessFlags: SendFlags.INLINE });
  // @ts-expect-error an MTU is no state
  any.modify({ qpState: Mtu.MTU_1024 });
  // @ts-expect-error a type of queue pairs, not a state
  any.modify({ curQpState: QpType.RAW_PACKET });

  // What is meant compiles: members, or-ed members, nothing at all, and numbers from C.
  any.modify({ pathMtu: Mtu.MTU_4096, qpAccessFlags: AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE });
  any.modify({ pathMtu: ctx.queryPort(1).activeMtu, qpAccessFlags: 0 });
  any.modify({ pathMtu: fromC, qpState: fromC, qpAccessFlags: fromC });
  pd.allocMr(64, AccessFlags.LOCAL_WRITE);
  pd.allocMr(64, fromC);
  any.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED | SendFlags.INLINE });
  const bits: number = AccessFlags.LOCAL_WRITE;
  pd.allocMr(64, bits);

  // Connections and requests go by the type of the queue pair.
  rc.connect({ remote: { qpNum: 17 } });
  // @ts-expect-error a UD queue pair has no peer
  ud.connect({ remote: { qpNum: 17 } });
  rc.postSend({ opcode: WrOpcode.RDMA_READ, remoteAddr: 0n, rkey: 1 });
  // @ts-expect-error a UD queue pair does not read
  ud.postSend({ opcode: WrOpcode.RDMA_READ, remoteAddr: 0n, rkey: 1 });
}

describe('enumerations', () => {
  it('are plain objects with the numbers of C: no reverse names', () => {
    expect(Mtu).toEqual({ MTU_256: 1, MTU_512: 2, MTU_1024: 3, MTU_2048: 4, MTU_4096: 5 });
    expect(Object.keys(QpState)).toHaveLength(8);
    expect(Object.values(AccessFlags).every((value) => typeof value === 'number')).toBe(true);
    expect(JSON.stringify(SendFlags)).toBe('{"FENCE":1,"SIGNALED":2,"SOLICITED":4,"INLINE":8,"IP_CSUM":16}');
  });

  it('have names', () => {
    expect(enumName(QpState, QpState.RTS)).toBe('RTS');
    expect(flagNames(AccessFlags, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ)).toBe('LOCAL_WRITE|REMOTE_READ');
  });
});
