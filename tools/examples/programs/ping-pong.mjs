// @ts-check
// The command line and the report of the two ping-pong programs.
import { parseArgs } from 'node:util';
import { DEFAULT_PORT } from './rendezvous.mjs';

/** `[HOST] [--port N] [--size BYTES] [--iters N]` */
export function pingPongArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      port: { type: 'string', default: String(DEFAULT_PORT) },
      size: { type: 'string', default: '4096' },
      iters: { type: 'string', default: '1000' },
    },
  });
  return {
    host: positionals[0],
    port: Number(values.port),
    size: Number(values.size),
    iters: Number(values.iters),
  };
}

/**
 * @param {number} size bytes of a message
 * @param {number} iters messages each way
 * @param {bigint} since process.hrtime.bigint() at the start
 */
export function report(size, iters, since) {
  const seconds = Number(process.hrtime.bigint() - since) / 1e9;
  const bytes = size * iters * 2;
  console.log(`${bytes} bytes in ${seconds.toFixed(3)} seconds = ${((bytes * 8) / seconds / 1e6).toFixed(1)} Mbit/sec`);
  console.log(`${iters} iters in ${seconds.toFixed(3)} seconds = ${((seconds / iters) * 1e6).toFixed(2)} usec/iter`);
}
