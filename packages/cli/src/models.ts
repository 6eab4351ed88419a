import { type DeviceList, listDevices } from '@verbs/core';

/** Packages whose `listDevices()` adds the default device of their model to the software NIC. */
const PACKAGES = ['@verbs/mlx5', '@verbs/hbl'];

/** All devices, those of installed models included. A configuration in VERBS_SOFT stays as it is. */
export async function listAllDevices(): Promise<DeviceList> {
  if ((process.env['VERBS_SOFT'] ?? '').trim() === '') {
    for (const name of PACKAGES) await addDefaultDevice(name);
  }
  return listDevices();
}

async function addDefaultDevice(name: string): Promise<void> {
  try {
    const { listDevices: list } = (await import(name)) as { listDevices?: () => unknown };
    list?.();
  } catch {
    // Not installed, or not built: programs that need it report that themselves.
  }
}
