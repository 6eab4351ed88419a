import { postError } from './post-errors.js';
import { BatchWriter } from './records.js';

/** All queues of this thread write into one batch. */
const shared = new BatchWriter();
let sharedBusy = false;

type Write = (batch: BatchWriter, wr: unknown, path: string) => void;
type Call = (batch: BatchWriter, count: number) => number;

/** Writes one or many work requests into a batch and posts it by one native call. */
export function postRequests(
  wr: unknown,
  write: Write,
  call: Call,
  about: { syscall: string; maxSge: number; maxWr: number },
): void {
  // A getter in a request may post on its own: then the shared batch is not free.
  const batch = sharedBusy ? new BatchWriter() : shared;
  const mine = batch === shared;
  sharedBusy = true;
  try {
    batch.reset();
    let count = 1;
    if (Array.isArray(wr)) {
      count = wr.length;
      for (let i = 0; i < count; i++) write(batch, wr[i], `wr[${i}]`);
    } else {
      write(batch, wr, 'wr');
    }
    const code = call(batch, count);
    if (code === 0) return;
    const { posted, badSge: sge } = batch;
    throw postError({ code, posted, sge, path: Array.isArray(wr) ? `wr[${posted}]` : 'wr', ...about });
  } finally {
    if (mine) sharedBusy = false;
  }
}
