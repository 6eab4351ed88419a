import { onTestFinished } from 'vitest';
import { Client, type ComchOptions, openDevice, openRepresentor, Server } from '../../dist/index.js';

type Rest = Partial<Omit<ComchOptions, 'device' | 'name'>>;

/** A server on the DPU; closed, with its devices, when the test ends. */
export function serverOf(name: string, options: Rest = {}): Server {
  const device = openDevice('doca_dpu0', { api: 'comch' });
  const deviceRep = openRepresentor(device, '5f5f:3b:00.0');
  const server = new Server({ device, deviceRep, name, ...options });
  onTestFinished(async () => {
    await server.closeAsync();
    deviceRep.close();
    device.close();
  });
  return server;
}

/** A client on the host. */
export function clientOf(name: string, options: Rest = {}): Client {
  const device = openDevice('doca_host0', { api: 'comch' });
  const client = new Client({ device, name, ...options });
  onTestFinished(async () => {
    await client.closeAsync();
    device.close();
  });
  return client;
}

/** Both ends of a connection. */
export async function pairOf(name: string, options: Rest = {}) {
  const server = serverOf(name, options);
  const client = clientOf(name, options);
  const [accepted, connected] = await Promise.all([server.accept(), client.connect()]);
  return { server, client, accepted, connected };
}

export const text = (data: Uint8Array) => Buffer.from(data).toString();
