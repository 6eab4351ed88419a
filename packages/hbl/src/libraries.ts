import { createRequire } from 'node:module';
import type { Context, LibraryKind } from '@verbs/core';
import { sibling, VerbsError } from '@verbs/core';
import { type Libibverbs, native, type NativeHandle, type NativeLibrary } from './native.js';
import { softModel } from './soft-model.js';

const SYSTEM = 'libhbl.so.1';
const ENOSYS = 38;
const EEXIST = 17;

/** What belongs together: calls go to the libhbl of the context's own libibverbs, never across. */
export interface Libraries {
  hbl: NativeLibrary;
  libibverbs: Libibverbs;
}

const found = new Map<LibraryKind, Libraries | { reason: string }>();

/** Both libraries of that kind, or why there are none. */
export function findLibraries(kind: LibraryKind): Libraries | { reason: string } {
  let answer = found.get(kind);
  if (answer === undefined) {
    answer = load(kind);
    found.set(kind, answer);
  }
  return answer;
}

function load(kind: LibraryKind): Libraries | { reason: string } {
  const verbs = sibling.libibverbs(kind);
  if ('reason' in verbs) return verbs;
  const opened = native.openLibrary(kind === 'system' ? SYSTEM : softModel.library);
  if (opened.handle === undefined) {
    const help =
      kind === 'system' ? "install the rdma-core of Habana's software" : 'build the package: npm run build:native';
    return { reason: `${opened.reason}: ${help}` };
  }
  if (kind === 'soft') {
    const code = native.attachModel(opened.handle, verbs.handle);
    if (code !== 0 && code !== -EEXIST) {
      return { reason: `the software NIC does not take the model of hbl devices (errno ${-code}): update @verbs/soft` };
    }
  }
  return { hbl: opened.handle, libibverbs: verbs.handle };
}

/** The libraries of that kind; throws where there are none. */
export function librariesFor(kind: LibraryKind, syscall: string): Libraries {
  const libraries = findLibraries(kind);
  if ('reason' in libraries) throw new VerbsError(ENOSYS, syscall, { hint: libraries.reason });
  return libraries;
}

/** An open context's own libhbl and its handle, for a call. Throws TypeError for anything else. */
export function forContext(context: unknown, syscall: string): { hbl: NativeLibrary; handle: NativeHandle } {
  const handle = sibling.handleOf(context, 'Context', 'ctx', syscall);
  const { library } = (context as Context).device;
  return { hbl: librariesFor(library, syscall).hbl, handle };
}

/** The software NIC has a device of this kind from now on, if its configuration has none. */
export function ensureSoftDevice(): void {
  if ('reason' in findLibraries('soft')) return;
  const soft = softControl();
  if (soft === undefined) return;
  const hbl = soft.deviceNames().filter((name) => isSupportedByName('soft', name));
  // A device that is configured but left out has its reason in lastError(); another beside it would hide that.
  if (hbl.length === 0 && !configuredForHbl()) soft.addDevices(DEFAULT_DEVICE);
}

const DEFAULT_DEVICE = 'hbl_0,kind=hbl';

function configuredForHbl(): boolean {
  return /kind\s*=\s*hbl/.test(process.env['VERBS_SOFT'] ?? '');
}

export function isSupportedByName(kind: LibraryKind, name: string): boolean {
  const libraries = findLibraries(kind);
  return 'hbl' in libraries && native.isSupported(libraries.hbl, libraries.libibverbs, name);
}

interface SoftControl {
  deviceNames(): string[];
  addDevices(text: string): void;
}

/** @verbs/soft is an optional peer, found where this package or the program is installed. */
function softControl(): SoftControl | undefined {
  for (const place of [import.meta.url, process.argv[1]]) {
    if (place === undefined) continue;
    try {
      return createRequire(place)('@verbs/soft') as SoftControl;
    } catch {
      // The next place.
    }
  }
  return undefined;
}

/** The software NIC's own words, where they say more than an errno. */
export function softHint(kind: LibraryKind): string | undefined {
  return kind === 'soft' ? sibling.softFailure() : undefined;
}
