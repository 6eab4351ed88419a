import { AccessFlags, type MemoryRegion, WrOpcode } from '@verbs/core';
import { onTestFinished } from 'vitest';
import {
  connect,
  type ConnectOptions,
  type Connection,
  listen,
  type ListenOptions,
  type Server,
} from '../../src/index.js';

/** Closes it after the test. */
export function keep<T extends { close(): void }>(it: T): T {
  onTestFinished(() => {
    it.close();
  });
  return it;
}

/** A server on any free port. */
export const server = (options: ListenOptions = {}): Server => keep(listen({ library: 'soft', ...options }));

export const portOf = (it: { address(): { port: number } }): number => it.address().port;

export const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).replace(/\0+$/, '');

/** The two ends of a connection: the connecting one first. */
export async function pair(options: Partial<ConnectOptions> = {}): Promise<[Connection, Connection]> {
  const listening = server();
  const accepted = listening.request().then((request) => request.accept());
  const connecting = connect({ port: portOf(listening), library: 'soft', ...options });
  const [one, other] = await Promise.all([connecting, accepted]);
  return [keep(one), keep(other)];
}

/** Memory of a connection with some text in it. */
export function region(connection: Connection, content = ''): MemoryRegion {
  const mr = connection.pd.allocMr(64, AccessFlags.LOCAL_WRITE);
  mr.bytes.set(new TextEncoder().encode(content));
  return mr;
}

/** Sends text from one end to the other, and gives what came. */
export async function send(from: Connection, to: Connection, content: string): Promise<string> {
  const [mr, into] = [region(from, content), region(to)];
  const received = to.qp.recv({ sgList: [{ mr: into }] });
  await from.qp.send({ opcode: WrOpcode.SEND, sgList: [{ mr, length: content.length }] });
  const { byteLen } = await received;
  const got = text(into.bytes.slice(0, byteLen));
  mr.close();
  into.close();
  return got;
}
