import * as workerThreads from 'node:worker_threads';

interface Threads {
  markAsUncloneable?: (value: object) => void;
  markAsUntransferable: (value: object) => void;
  isMarkedAsUntransferable?: (value: object) => boolean;
}
const threads = workerThreads as unknown as Threads;

/** In the error's message: `Symbol(…) could not be cloned`. */
const OF_ITS_THREAD = Symbol('a verbs object belongs to its thread, open a context in each: it');

/**
 * Makes structuredClone and postMessage reject an object, which would otherwise arrive as an empty one. Node has a
 * function for that from 22.10 on; before, the object gets a property that cannot be cloned.
 */
export function markAsUncloneable(value: object): void {
  if (threads.markAsUncloneable !== undefined) threads.markAsUncloneable(value);
  else Object.defineProperty(value, 'uncloneable', { value: OF_ITS_THREAD, enumerable: true });
}

/** Whether a mark keeps a buffer's memory in its place against every transfer: tried out, because versions differ. */
export const untransferableHolds: boolean = tryTransfers();

/** Buffers that this package marked. */
const kept = new WeakSet<ArrayBuffer>();

/**
 * Marks a buffer as untransferable. True if its memory now stays in its place.
 *
 * A buffer that is marked already is left alone: Node marks the memory of addons so, without keeping it in its
 * place, and cannot free it at its exit any more if it is marked a second time (24 and later abort).
 */
export function keepInPlace(buffer: ArrayBuffer): boolean {
  if (kept.has(buffer)) return untransferableHolds;
  if (threads.isMarkedAsUntransferable?.(buffer) === true) return false;
  threads.markAsUntransferable(buffer);
  kept.add(buffer);
  return untransferableHolds;
}

function tryTransfers(): boolean {
  const buffer = new ArrayBuffer(1);
  threads.markAsUntransferable(buffer);
  const moves = [
    () => structuredClone(buffer, { transfer: [buffer] }),
    () => (buffer as { transfer?: () => unknown }).transfer?.(),
  ];
  for (const move of moves) {
    try {
      move();
    } catch {
      // Rejected: the mark works.
    }
  }
  // Where there is no transfer() a program may still bring its own way of detaching: such versions are not trusted.
  return buffer.byteLength === 1 && 'transfer' in ArrayBuffer.prototype;
}
