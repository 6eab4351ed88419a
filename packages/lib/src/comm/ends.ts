import {
  type Api,
  type DeviceInfo,
  Endpoint,
  type PeerAddr,
  listDevices,
  listRepresentors,
  openDevice,
  openRepresentor,
  unavailableReason,
} from '@verbs/doca-comm';
import { Failure } from '../failure/index.js';

export interface Service extends Disposable {
  endpoint: Endpoint;
  device: string;
  representor: string;
}

export interface Client extends Disposable {
  endpoint: Endpoint;
  device: string;
  peer: PeerAddr;
}

/**
 * A service that listens: on the named DPU device for the named function of the host, otherwise on the first of each; over
 * that API, otherwise over the newer one.
 *
 * @throws Failure, DocaError
 */
export function serviceFor(name: string, deviceName?: string, representorName?: string, api?: Api): Service {
  const device = openDevice(deviceName ?? firstDevice(true), api && { api });
  const closers: Disposable[] = [device];
  const end = () => {
    for (const closer of closers.splice(0).reverse()) closer[Symbol.dispose]();
  };
  try {
    const [first] = listRepresentors(device);
    const wanted = representorName ?? first;
    if (wanted === undefined)
      throw new Failure('the DPU shows no function of a host', { hint: 'look at its configuration' });
    const deviceRep = openRepresentor(device, wanted);
    closers.push(deviceRep);
    const endpoint = new Endpoint({ device, deviceRep });
    closers.push(endpoint);
    endpoint.listen(name);
    return { endpoint, device: title(device.info), representor: deviceRep.info.pciAddr, [Symbol.dispose]: end };
  } catch (error) {
    end();
    throw error;
  }
}

/**
 * A client of a service: on the named device of the host, otherwise on the first one. Resolves when it is accepted.
 *
 * @throws Failure, DocaError, signal.reason
 */
export async function connectTo(name: string, signal: AbortSignal, deviceName?: string, api?: Api): Promise<Client> {
  const device = openDevice(deviceName ?? firstDevice(false), api && { api });
  const endpoint = new Endpoint({ device });
  const end = () => {
    endpoint.close();
    device.close();
  };
  try {
    const peer = await endpoint.connectAsync(name, { signal });
    await peer.established({ signal });
    return { endpoint, device: title(device.info), peer, [Symbol.dispose]: end };
  } catch (error) {
    end();
    throw error;
  }
}

function firstDevice(hasRepresentors: boolean): DeviceInfo {
  const found = listDevices().find((device) => device.hasRepresentors === hasRepresentors);
  if (found !== undefined) return found;
  const kind = hasRepresentors ? 'device of a DPU' : 'device of a host';
  throw new Failure(`there is no ${kind}`, {
    hint:
      unavailableReason('soft') ??
      'the software BlueField has both: see VERBS_SOFT in the README of @verbs/doca-comm, or name a device',
  });
}

function title({ ibdevName, pciAddr }: DeviceInfo): string {
  return ibdevName === '' ? pciAddr : ibdevName;
}
