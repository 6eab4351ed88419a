import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { Endpoint, openDevice, openRepresentor, type EndpointOptions, type PeerAddr } from '../../dist/index.js';

/**
 * Whether the endpoints of this run go over Comch. A server of Comch accepts by itself: connect() returns when the connection
 * is established, and no client is ever pending.
 */
export const overComch = process.env['VERBS_DOCA_API'] === 'comch';

/** An endpoint on the DPU that listens; closed, with its devices, when the test ends. */
export function serve(name: string, options: EndpointOptions = {}): Endpoint {
  const device = openDevice('doca_dpu0');
  const deviceRep = openRepresentor(device, '5f5f:3b:00.0');
  const endpoint = new Endpoint({ device, deviceRep, ...options });
  onTestFinished(async () => {
    await endpoint.closeAsync();
    deviceRep.close();
    device.close();
  });
  endpoint.listen(name);
  return endpoint;
}

/** An endpoint on the host that is not connected yet. */
export function client(options: EndpointOptions = {}): Endpoint {
  const device = openDevice('doca_host0');
  const endpoint = new Endpoint({ device, ...options });
  onTestFinished(async () => {
    await endpoint.closeAsync();
    device.close();
  });
  return endpoint;
}

/** Sends until there is no room any more: over Comch the peer's library takes some more, a little later. How many. */
export async function fill(endpoint: Endpoint, peer: PeerAddr): Promise<number> {
  let sent = 0;
  for (let pauses = 0; pauses < (overComch ? 10 : 1); pauses++) {
    while (endpoint.sendTo(Buffer.from('x'), peer)) sent++;
    if (overComch) await sleep(5);
  }
  return sent;
}

/** Sends back what comes. */
export async function echo(service: Endpoint): Promise<void> {
  for await (const { peer, data } of service) await service.send(data, peer);
}

export function text(data: Uint8Array): string {
  return Buffer.from(data).toString();
}
