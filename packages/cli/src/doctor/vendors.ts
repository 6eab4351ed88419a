import type { LibraryReport } from '@verbs/core';
import type { VendorLibraryReport } from '@verbs/core/provider';
import type { Provider } from '@verbs/native-files';
import { load, providers } from '../providers.js';
import { type Finding, ok, warn } from './finding.js';
import type { System } from './system.js';

/** The vendors' own libraries, with their releases and what follows, as the installed packages see them. */
export async function checkVendors(system: System, libraries: readonly LibraryReport[]): Promise<Finding[]> {
  const verbs = libraries.find(({ kind }) => kind === 'system');
  const reports = await Promise.all(providers().map(reportOf));
  return reports.flatMap((report) => (report === undefined ? [] : [checkVendor(report, system, verbs)]));
}

async function reportOf(provider: Provider): Promise<VendorLibraryReport | undefined> {
  const module = await load(provider);
  try {
    return module?.vendorLibrary?.();
  } catch {
    // Not built: the finding of the package itself says so.
    return undefined;
  }
}

/** Exported for tests. */
export function checkVendor(report: VendorLibraryReport, system: System, verbs: LibraryReport | undefined): Finding {
  const { name: topic, hardware, devices, file, release, text, remedy = 'see its documentation' } = report;
  if (file === undefined) {
    const needed =
      devices === undefined ? [] : system.list('/sys/class/infiniband').filter((name) => name.startsWith(devices));
    if (needed.length === 0) return ok(topic, `not here: needed for ${hardware} only`);
    return warn(topic, `${text}; needed for ${needed.join(', ')}`, remedy);
  }
  const here = [release ?? 'of an unknown release', `(${file})`].join(' ');
  const said = text === '' ? here : `${here}: ${text}`;
  if (report.remedy !== undefined) return warn(topic, said, remedy);
  if (release?.startsWith('rdma-core') === true && verbs?.release !== undefined && verbs.release !== release) {
    return warn(
      topic,
      `${said}; libibverbs is of ${verbs.release}`,
      'install both of one release: libibverbs loads the provider of its own, and devices of another are not known here',
    );
  }
  return ok(topic, said);
}
