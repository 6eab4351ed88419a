import { enumName, WcStatus, WrOpcode } from '../enums/index.js';

/** What to look at first, by status: the table of docs/concepts/errors.md says the same. */
const HINTS: Readonly<Partial<Record<keyof typeof WcStatus, string>>> = {
  LOC_LEN_ERR:
    "the message does not fit: look at the length of the receive request, and at a datagram longer than the port's MTU",
  LOC_QP_OP_ERR: "this side's queue pair cannot do that: look at its type, and at its state",
  LOC_PROT_ERR:
    "this side's memory: look at offset and length in sgList, whether the region is open, and at LOCAL_WRITE for what is written to",
  WR_FLUSH_ERR:
    'an earlier request failed, or the queue pair went to ERR: the first completion with another status has the cause',
  MW_BIND_ERR: 'the window was not bound: look at MW_BIND in the access of the region, and at the range',
  BAD_RESP_ERR:
    'the peer answered what nobody asked: a queue pair with an old PSN, or another program, is at the other end',
  LOC_ACCESS_ERR: "this side's memory: the region needs LOCAL_WRITE for what arrives there",
  REM_INV_REQ_ERR:
    "the peer's queue pair does not allow the operation: look at `access` of its connect(), and at the length of its receive request",
  REM_ACCESS_ERR:
    "the peer's memory: look at addr and rkey in `remote`, at the bounds, and at the rights of the region there (REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC)",
  REM_OP_ERR: 'the peer could not do it: its own receive request or its memory is wrong',
  RETRY_EXC_ERR:
    'no answer at all: is the peer alive and in RTR? Look at GIDs, PSNs and MTU of both ends, and at a firewall before UDP port 4791',
  RNR_RETRY_EXC_ERR:
    'the peer posted no receive request: post it before this side sends; `rnrRetry: 7` of connect() waits for ever',
  REM_ABORT_ERR: 'the peer ended the operation',
  FATAL_ERR: 'the device failed: its asynchronous events and the log of the kernel say more',
  RESP_TIMEOUT_ERR: 'the peer took too long to answer',
  TM_ERR: 'a message has taken the tagged buffer before: it completes by itself',
  TM_RNDV_INCOMPLETE:
    'with TM_DATA_VALID the tagged buffer has the headers: read the data yourself, or add longer buffers; else the READ failed',
};

const byStatus = new Map<number, string>(
  Object.entries(HINTS).map(([name, hint]) => [WcStatus[name as keyof typeof WcStatus], hint]),
);

const RIGHTS: Readonly<Partial<Record<keyof typeof WrOpcode, string>>> = {
  RDMA_WRITE: 'REMOTE_WRITE',
  RDMA_WRITE_WITH_IMM: 'REMOTE_WRITE',
  ATOMIC_WRITE: 'REMOTE_WRITE',
  RDMA_READ: 'REMOTE_READ',
  ATOMIC_CMP_AND_SWP: 'REMOTE_ATOMIC',
  ATOMIC_FETCH_AND_ADD: 'REMOTE_ATOMIC',
};

/** Of an operation that the peer denied: the right that it needs, in two places. */
export function rightHint(status: number, opcode: number): string | undefined {
  if (status !== WcStatus.REM_ACCESS_ERR && status !== WcStatus.REM_INV_REQ_ERR) return undefined;
  const name = enumName(WrOpcode, opcode);
  const right = RIGHTS[name as keyof typeof WrOpcode];
  if (right === undefined) return undefined;
  const places = 'in `access` of the queue pair there (connect, listen or dial) and of the region';
  return `${name} needs AccessFlags.${right} ${places}; else look at addr, rkey and the bounds in \`remote\``;
}

/** What to look at first, for a status other than SUCCESS. */
export function statusHint(status: number): string | undefined {
  return byStatus.get(status);
}
