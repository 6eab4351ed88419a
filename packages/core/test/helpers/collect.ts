import { setImmediate } from 'node:timers/promises';

/** Collects garbage until `done`, over turns of the loop in which finalizers run. Gives up after many. */
export async function collectUntil(done: () => boolean): Promise<boolean> {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('these tests need node --expose-gc');
  for (let turn = 0; turn < 200; turn++) {
    if (done()) return true;
    gc();
    await setImmediate();
  }
  return done();
}
