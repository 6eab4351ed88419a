import { deviceLists, libraryLoads } from '../diagnostics/channels.js';
import type { LibraryKind } from '../types/device.js';

/** The last published result for each library. Searches are frequent, and most have the same result as before. */
const published = new Map<string, string>();

function isNews(key: string, result: unknown[]): boolean {
  const text = JSON.stringify(result);
  if (published.get(key) === text) return false;
  published.set(key, text);
  return true;
}

/** Publishes an attempt to load a library if its result differs from the last one. */
export function libraryTried(
  library: string,
  kind: LibraryKind,
  { path, reason }: { path?: string; reason?: string },
): void {
  if (!isNews(`${kind} ${library}`, [path, reason]) || !libraryLoads.hasSubscribers) return;
  libraryLoads.publish({ library, kind, ...(path !== undefined && { path }), ...(reason !== undefined && { reason }) });
}

/** Publishes a list of devices if it differs from the last one. */
export function devicesListed(kind: LibraryKind, found: { devices: { name: string }[]; reason?: string }): void {
  const [devices, { reason }] = [found.devices.map(({ name }) => name), found];
  if (!isNews(kind, [devices, reason]) || !deviceLists.hasSubscribers) return;
  deviceLists.publish({ kind, devices, ...(reason !== undefined && { reason }) });
}
