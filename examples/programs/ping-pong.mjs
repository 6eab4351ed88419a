// @ts-check
// What the two ping-pong programs share: the command line, the meeting, the report.
import { parseArgs } from 'node:util';
import { dial, listen } from '@verbs/core/rendezvous';

/** The port of ibv_rc_pingpong and its relatives. */
const DEFAULT_PORT = 18515;

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
 * The connection to the other program: it dials `host`, or waits for a peer where `host` is undefined.
 *
 * @param {string | undefined} host
 * @param {import('@verbs/core/rendezvous').ConnectionOptions & { port: number }} options
 */
export async function meet(host, options) {
  if (host !== undefined) return dial({ host, ...options });
  const server = await listen(options);
  console.error(`waiting on 127.0.0.1 port ${server.port}`);
  for await (const request of server) {
    const connection = await request.accept();
    server.close();
    return connection;
  }
  throw new Error('nobody came');
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
