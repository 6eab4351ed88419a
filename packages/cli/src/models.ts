import { type DeviceList, listDevices } from '@verbs/core';
import { load, providers } from './providers.js';

/** All devices, those of installed models included. A configuration in VERBS_SOFT stays as it is. */
export async function listAllDevices(): Promise<DeviceList> {
  if ((process.env['VERBS_SOFT'] ?? '').trim() === '') {
    for (const provider of providers()) if (provider.devices !== undefined) await addDefaultDevice(provider);
  }
  return listDevices();
}

async function addDefaultDevice(provider: Parameters<typeof load>[0]): Promise<void> {
  const module = await load(provider);
  try {
    module?.listDevices?.();
  } catch {
    // Its library cannot be used here: programs that need it report that themselves.
  }
}
