import { pathToFileURL } from 'node:url';
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
