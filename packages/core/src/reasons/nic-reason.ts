import { native, type NativeHandle } from '../base/native.js';
import { kHandle } from '../base/symbols.js';
import { WcStatus } from '../enums/index.js';

/**
 * What the software NIC itself knows about a request that failed, in its own sentence: of a request that the peer refused,
 * what the peer's end had against it, if that is at the same device. Undefined on hardware, which has the status only.
 *
 * `qp`: the queue pair of the request. It may be closed, and its context with it.
 */
export function nicReason(qp: object, { qpNum, status }: { qpNum: number; status: number }): string | undefined {
  const handle = (qp as { context?: { [kHandle]: NativeHandle } }).context?.[kHandle];
  // What was flushed has its reason with the request that failed first.
  if (handle === undefined || status === WcStatus.WR_FLUSH_ERR || !native.isOpen(handle)) return undefined;
  return native.softWhy(handle, qpNum, status);
}
