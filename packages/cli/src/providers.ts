import { pathToFileURL } from 'node:url';
import { type DeviceList, listDevices } from '@verbs/core';
import type { VendorLibraryReport } from '@verbs/core/provider';
import { installedProviders, type Provider } from '@verbs/native-files';
import type { SoftModel } from '@verbs/soft';

/** What this program uses of a provider. */
interface ProviderModule {
  /** The library that it brings for unmodified programs. */
  softModel?: SoftModel;
  /** What there is of the vendor's library on this machine. */
  vendorLibrary?: () => VendorLibraryReport;
  /** Adds the default device of its model to the software NIC. */
  listDevices?: () => unknown;
}

/** The installed providers. Nothing of them is loaded. */
export const providers = (): Provider[] => installedProviders(import.meta.url);

/** Undefined for a package that is not built: the finding of doctor, and programs that need it, say that themselves. */
export async function load({ module }: Provider): Promise<ProviderModule | undefined> {
  try {
    return (await import(pathToFileURL(module).href)) as ProviderModule;
  } catch {
    return undefined;
  }
}

/** All devices, those of installed models included. A configuration in VERBS_SOFT stays as it is. */
export async function listAllDevices(): Promise<DeviceList> {
  if ((process.env['VERBS_SOFT'] ?? '').trim() === '') {
    for (const provider of providers()) {
      if (provider.devices !== undefined) addDefaultDevice(await load(provider));
    }
  }
  return listDevices();
}

function addDefaultDevice(module: ProviderModule | undefined): void {
  try {
    module?.listDevices?.();
  } catch {
    // Its library cannot be used here: programs that need it report that themselves.
  }
}
