import * as workerThreads from 'node:worker_threads';

type Threads = Partial<Record<'markAsUncloneable' | 'markAsUntransferable', (value: object) => void>>;
const threads = workerThreads as unknown as Threads;

/** Lets structuredClone and postMessage refuse an object, where Node can do that (22.10 and later). */
export function markAsUncloneable(value: object): void {
  threads.markAsUncloneable?.(value);
}

/** Lets structuredClone and postMessage refuse to move a buffer's memory away. */
export function markAsUntransferable(value: object): void {
  threads.markAsUntransferable?.(value);
}

/**
 * Whether the mark keeps a buffer's memory in its place against everything that JavaScript has: found out by trying,
 * because versions differ.
 */
export const untransferableHolds: boolean = tryTransfers();

function tryTransfers(): boolean {
  const buffer = new ArrayBuffer(1);
  markAsUntransferable(buffer);
  const moves = [
    () => structuredClone(buffer, { transfer: [buffer] }),
    () => (buffer as { transfer?: () => unknown }).transfer?.(),
  ];
  for (const move of moves) {
    try {
      move();
    } catch {
      // Refused, as it should be.
    }
  }
  // Where there is no transfer() a program may still bring its own way of detaching: such versions are not trusted.
  return buffer.byteLength === 1 && 'transfer' in ArrayBuffer.prototype;
}
