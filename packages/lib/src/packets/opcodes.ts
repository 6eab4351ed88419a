/** The extension headers of a packet, in the order in which they follow the BTH. */
export type Extension = 'XRCETH' | 'DETH' | 'FETH' | 'RETH' | 'AtomicETH' | 'AETH' | 'AtomicAckETH' | 'ImmDt' | 'IETH';

/** How an operation takes part in a conversation. */
export type Role = 'send' | 'write' | 'read' | 'atomic' | 'other' | 'acknowledgement' | 'response' | 'notification';

export interface Opcode {
  /** As the specification names it, with its transport: 'RC SEND Only'. */
  name: string;
  transport: 'RC' | 'UC' | 'RD' | 'UD' | 'XRC' | 'none';
  role: Role;
  /** Whether it goes from a requester to a responder. */
  request: boolean;
  extensions: readonly Extension[];
}

interface Operation {
  name: string;
  role: Role;
  extensions: readonly Extension[];
}

const operation = (name: string, role: Role, ...extensions: Extension[]): Operation => ({ name, role, extensions });

/** By the lower five bits of the opcode (IBTA 9.2.1). */
const OPERATIONS: ReadonlyMap<number, Operation> = new Map([
  [0x00, operation('SEND First', 'send')],
  [0x01, operation('SEND Middle', 'send')],
  [0x02, operation('SEND Last', 'send')],
  [0x03, operation('SEND Last with Immediate', 'send', 'ImmDt')],
  [0x04, operation('SEND Only', 'send')],
  [0x05, operation('SEND Only with Immediate', 'send', 'ImmDt')],
  [0x06, operation('RDMA WRITE First', 'write', 'RETH')],
  [0x07, operation('RDMA WRITE Middle', 'write')],
  [0x08, operation('RDMA WRITE Last', 'write')],
  [0x09, operation('RDMA WRITE Last with Immediate', 'write', 'ImmDt')],
  [0x0a, operation('RDMA WRITE Only', 'write', 'RETH')],
  [0x0b, operation('RDMA WRITE Only with Immediate', 'write', 'RETH', 'ImmDt')],
  [0x0c, operation('RDMA READ Request', 'read', 'RETH')],
  [0x0d, operation('RDMA READ response First', 'response', 'AETH')],
  [0x0e, operation('RDMA READ response Middle', 'response')],
  [0x0f, operation('RDMA READ response Last', 'response', 'AETH')],
  [0x10, operation('RDMA READ response Only', 'response', 'AETH')],
  [0x11, operation('Acknowledge', 'acknowledgement', 'AETH')],
  [0x12, operation('ATOMIC Acknowledge', 'acknowledgement', 'AETH', 'AtomicAckETH')],
  [0x13, operation('CmpSwap', 'atomic', 'AtomicETH')],
  [0x14, operation('FetchAdd', 'atomic', 'AtomicETH')],
  [0x16, operation('SEND Last with Invalidate', 'send', 'IETH')],
  [0x17, operation('SEND Only with Invalidate', 'send', 'IETH')],
  [0x1c, operation('FLUSH', 'other', 'FETH', 'RETH')],
  [0x1d, operation('ATOMIC WRITE', 'other', 'RETH')],
]);

/** By the upper three bits: the operations that the transport has, and the header of its requests. */
const TRANSPORTS: ReadonlyMap<
  number,
  { name: Opcode['transport']; has: (low: number) => boolean; header?: Extension }
> = new Map([
  [0, { name: 'RC', has: () => true }],
  [1, { name: 'UC', has: (low: number) => low <= 0x0b }],
  [3, { name: 'UD', has: (low: number) => low === 4 || low === 5, header: 'DETH' as const }],
  [5, { name: 'XRC', has: () => true, header: 'XRCETH' as const }],
]);

const CONGESTION_NOTIFICATION = 0x81;

/** The operation of a BTH; undefined for a number that has none. */
export function opcodeOf(number: number): Opcode | undefined {
  return OPCODES[number];
}

const OPCODES: readonly (Opcode | undefined)[] = Array.from({ length: 256 }, (_, number) => {
  if (number === CONGESTION_NOTIFICATION) {
    return { name: 'CNP', transport: 'none', role: 'notification', request: false, extensions: [] };
  }
  const transport = TRANSPORTS.get(number >> 5);
  const found = OPERATIONS.get(number & 0x1f);
  if (transport?.has(number & 0x1f) !== true || found === undefined) return undefined;
  const request = found.role !== 'response' && found.role !== 'acknowledgement';
  const header = request && transport.header !== undefined ? [transport.header] : [];
  return {
    name: `${transport.name} ${found.name}`,
    transport: transport.name,
    role: found.role,
    request,
    extensions: [...header, ...found.extensions],
  };
});
