import { deviceLists, libraryLoads } from '../diagnostics/channels.js';
import type { LibraryKind } from './libraries.js';

/** What was told of each library last: they are looked for often, and mostly with the same result. */
const told = new Map<string, string>();

function isNews(key: string, result: unknown[]): boolean {
  const text = JSON.stringify(result);
  if (told.get(key) === text) return false;
  told.set(key, text);
  return true;
}

/** Tells of the attempt to load a library, if it is the first one or had another result than the one before. */
export function libraryTried(
  library: string,
  kind: LibraryKind,
  { path, reason }: { path?: string; reason?: string },
): void {
  if (!isNews(`${kind} ${library}`, [path, reason]) || !libraryLoads.hasSubscribers) return;
  libraryLoads.publish({ library, kind, ...(path !== undefined && { path }), ...(reason !== undefined && { reason }) });
}

/** The same for a list of devices. */
export function devicesListed(kind: LibraryKind, found: { devices: { name: string }[]; reason?: string }): void {
  const [devices, { reason }] = [found.devices.map(({ name }) => name), found];
  if (!isNews(kind, [devices, reason]) || !deviceLists.hasSubscribers) return;
  deviceLists.publish({ kind, devices, ...(reason !== undefined && { reason }) });
}
