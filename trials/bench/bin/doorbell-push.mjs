// The loop of native/doorbell_push.c, in JavaScript over @verbs/hbl.
import { createUsrFifo, encodeDoorbell, openDevice } from '@verbs/hbl';

const BATCH = 32;
const count = Math.floor(Number(process.argv[2]) / BATCH) * BATCH;
const ctx = openDevice();
const fifo = createUsrFifo(ctx, { portNum: 1 });
const doorbells = new BigUint64Array(BATCH).fill(encodeDoorbell({ index: 0, qpNum: 0xfffff0, portNum: 1 }));
let spent = 0n;
for (let done = 0; done < count; done += BATCH) {
  if (fifo.free < BATCH) await fifo.space(BATCH);
  const start = process.hrtime.bigint();
  const pushed = fifo.push(doorbells);
  spent += process.hrtime.bigint() - start;
  if (pushed !== BATCH) throw new Error(`only ${pushed} of ${BATCH} doorbells fitted`);
}
console.log(JSON.stringify({ unit: 'ns', push: Number(spent) / count }));
ctx.close();
