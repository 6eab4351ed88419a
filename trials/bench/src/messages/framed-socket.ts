import { connect } from 'node:net';
import type { Duplex } from 'node:stream';

const LENGTH = 4;

/** In the abstract namespace: nothing stays behind in the file system. */
export const socketPath = (pid: number) => `\0verbs-bench-${pid}`;

export const connectSocket = (pid: number) => connect(socketPath(pid));

/** Calls back with each message that is complete: they come behind their lengths. */
export function onMessages(socket: Duplex, callback: (message: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    while (bytes.length - at >= LENGTH) {
      const end = at + LENGTH + bytes.readUInt32LE(at);
      if (end > bytes.length) break;
      callback(bytes.subarray(at + LENGTH, end));
      at = end;
    }
    rest = bytes.subarray(at);
  });
}

/** False: wait for 'drain'. */
export function put(socket: Duplex, message: Uint8Array): boolean {
  const frame = Buffer.allocUnsafe(LENGTH + message.length);
  frame.writeUInt32LE(message.length);
  frame.set(message, LENGTH);
  return socket.write(frame);
}
