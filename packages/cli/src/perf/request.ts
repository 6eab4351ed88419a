import { type BatchSendWr, WrOpcode } from '@verbs/core';
import type { End } from './end.js';

/** The request for a message of that size: all messages of a measurement are the same one. */
export function operationRequest(end: End, size: number, sendFlags: number): BatchSendWr {
  const { plan, mr, inbox } = end;
  const { region } = end.peer;
  const remote = { remoteAddr: region.addr + BigInt(inbox), rkey: region.rkey };
  const outgoing = { sendFlags, sgList: [{ mr, length: size }] };
  const incoming = { sendFlags, sgList: [{ mr, offset: inbox, length: size }] };
  switch (plan.operation) {
    case 'send':
      return { ...outgoing, ...end.address, opcode: WrOpcode.SEND };
    case 'write':
      return { ...outgoing, ...remote, opcode: WrOpcode.RDMA_WRITE };
    case 'read':
      return { ...incoming, ...remote, opcode: WrOpcode.RDMA_READ };
    case 'atomic':
      return plan.atomic === 'cmp-and-swap'
        ? { ...incoming, ...remote, opcode: WrOpcode.ATOMIC_CMP_AND_SWP, compare: 0, swap: 1 }
        : { ...incoming, ...remote, opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, add: 1 };
  }
}
