import { setImmediate } from 'node:timers/promises';

/** One collection, and a turn of the loop in which finalizers run. */
export async function collect(): Promise<void> {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('these tests need node --expose-gc');
  gc();
  await setImmediate();
}

/** Collects garbage until `done`. Gives up after many turns. */
export async function collectUntil(done: () => boolean): Promise<boolean> {
  for (let turn = 0; turn < 200 && !done(); turn++) await collect();
  return done();
}
