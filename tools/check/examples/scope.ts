// The variables that examples in the packages' comments take for granted. What is said here once need not be said in
// every example; an example that declares one of these names itself has its own.
import type { Endpoint } from '@verbs/doca-comm';
import type { Encap, UsrFifo } from '@verbs/hbl';
import type {
  AddressHandle,
  CompletionBatch,
  CompletionCounter,
  CompletionQueue,
  Context,
  DeviceMemory,
  MemoryRegion,
  MemoryWindow,
  ProtectionDomain,
  QpEndpoint,
  QueuePair,
  ReceiveWorkQueue,
  RecvBatch,
  SendBatch,
  SharedReceiveQueue,
  WorkCompletion,
} from '@verbs/core';
import type * as rendezvous from '@verbs/core/rendezvous';
import type { dr, FlowMatcher } from '@verbs/mlx5';
import type { CmId, Connection, ConnectionRequest, EventChannel, LookupRequest, Server } from '@verbs/rdmacm';
import type { SoftNic } from '@verbs/soft';

declare global {
  const ctx: Context;
  const pd: ProtectionDomain;
  const mr: MemoryRegion;
  const mw: MemoryWindow;
  const cq: CompletionQueue;
  const qp: QueuePair;
  const dm: DeviceMemory;
  const counter: CompletionCounter;
  const srq: SharedReceiveQueue;
  const wq: ReceiveWorkQueue;
  const ah: AddressHandle;
  const wc: WorkCompletion;
  const sends: SendBatch;
  const receives: RecvBatch;
  const completions: CompletionBatch;
  /** The peer's address, as it sent it. */
  const peer: QpEndpoint & { gid: string; addr: bigint; rkey: number };
  const data: Uint8Array;
  const text: string;

  const dial: typeof rendezvous.dial;
  const listen: typeof rendezvous.listen;

  const matcher: FlowMatcher;
  const domain: dr.Domain;
  const fifo: UsrFifo;
  const encap: Encap;
  const endpoint: Endpoint;
  const client: Endpoint;
  const nic: SoftNic;
  const channel: EventChannel;
  const id: CmId;
  const server: Server;
  const request: ConnectionRequest & LookupRequest;
  const connection: Connection;
}
