import { dirname, join } from 'node:path';
import type { LibraryKind } from '@verbs/core';
import { softModule, type VendorLibraryReport } from '@verbs/core/provider';
import { DocaError, DocaStatus } from './errors.js';
import { native, type LibraryHandle } from './native.js';
import { softModel } from './soft-model.js';

export type { LibraryKind };

/** A loaded pair of libraries. */
export interface Library {
  kind: LibraryKind;
  handle: LibraryHandle;
  /** Whether it has the functions about a service's state, which came with DOCA 2.x. */
  services: boolean;
}
export type Attempt = Library | { kind: LibraryKind; reason: string };

const attempts = new Map<LibraryKind, Attempt>();

/** The libraries of that kind, or the reason why there are none. */
export function loadLibrary(kind: LibraryKind): Attempt {
  let attempt = attempts.get(kind);
  if (attempt === undefined) {
    attempt = kind === 'system' ? systemLibrary() : softLibrary();
    attempts.set(kind, attempt);
  }
  return attempt;
}

/** The vendor's libraries if they are there, else the model's: for an endpoint that has no device yet. */
export function anyLibrary(): Library {
  const system = loadLibrary('system');
  if (!('reason' in system)) return system;
  const soft = loadLibrary('soft');
  if (!('reason' in soft)) return soft;
  throw new DocaError(DocaStatus.DRIVER, 'doca_comm_channel_ep_create', `${system.reason}; ${soft.reason}`);
}

const OLD_ENOUGH = 'install DOCA 1.5 to 2.8, or name its directory in VERBS_DOCA_LIBRARY_DIR';

/** A library of DOCA as the loader is asked for it. */
function place(name: string, version = '.so.2'): string {
  const directory = process.env['VERBS_DOCA_LIBRARY_DIR'];
  const file = `libdoca_${name}${version}`;
  return directory === undefined ? file : join(directory, file);
}

function systemLibrary(): Attempt {
  const reasons: string[] = [];
  for (const version of ['.so.2', '.so.1', '.so']) {
    const channel = place('comm_channel', version);
    const opened = native.openLibrary(place('common', version), channel, '');
    if (opened.handle === undefined) reasons.push(opened.reason);
    // The drop-in directory may be on LD_LIBRARY_PATH: that is not hardware.
    else if (opened.soft) reasons.push(`${channel} found here is the software BlueField (see LD_LIBRARY_PATH)`);
    else return { kind: 'system', handle: opened.handle, services: opened.services };
  }
  const here = native.describe(place('common'));
  const { text, remedy } = withoutChannel(here?.soft === true ? undefined : here?.version);
  return { kind: 'system', reason: `${[...reasons, ...text].join('; ')}: ${remedy}` };
}

/** What it means that DOCA of that version (undefined: no DOCA) has no Comm Channel, and what to do. */
function withoutChannel(version: string | undefined): { text: string[]; remedy: string } {
  if (version === undefined) return { text: [], remedy: OLD_ENOUGH };
  const here = `the DOCA ${version === '' ? '' : `${version} `}here has no Comm Channel`;
  if (/^[12]\./.test(version)) {
    return { text: [here], remedy: 'install that part of it (Debian, Ubuntu: doca-sdk-comm-channel)' };
  }
  const comch = hasComch() ? 'is here' : 'is not here either';
  const successor = `its successor Comch (libdoca_comch.so.2) ${comch}, and this package does not drive it`;
  return {
    text: [`${here}, which is gone since DOCA 3.0`, successor],
    remedy: 'install DOCA 1.5 to 2.8 beside it and name its directory in VERBS_DOCA_LIBRARY_DIR',
  };
}

const hasComch = () => native.describe(place('comch')) !== undefined;

/**
 * The DOCA of this machine: its file and version, and whether it has the Comm Channel and its successor Comch; or why none
 * can be used. `verbs doctor` prints it.
 *
 * @example
 * const { release, text } = vendorLibrary();
 * console.log(release ?? 'no DOCA', text);
 */
export function vendorLibrary(): VendorLibraryReport {
  const about = { name: 'DOCA', hardware: 'a BlueField' };
  const found = native.describe(place('common')) ?? native.describe(place('common', '.so.1'));
  // The drop-in directory may be on LD_LIBRARY_PATH: that is no DOCA.
  if (found === undefined || found.soft) return { ...about, text: 'no libdoca_common is here', remedy: OLD_ENOUGH };
  const { file, version } = found;
  const here = { ...about, file, ...(version !== '' && { release: `DOCA ${version}` }) };
  const system = loadLibrary('system');
  if (!('reason' in system)) return { ...here, text: `with the Comm Channel${hasComch() ? ' and with Comch' : ''}` };
  const { text, remedy } = withoutChannel(version);
  return { ...here, text: text.join('; '), remedy };
}

function softLibrary(): Attempt {
  const soft = softModule();
  if ('reason' in soft) return { kind: 'soft', reason: soft.reason };
  const file = (name: string) => join(dirname(softModel.library), `libverbs-soft-doca-${name}.so.2`);
  const opened = native.openLibrary(file('common'), file('comm-channel'), soft.library);
  if (opened.handle === undefined) return { kind: 'soft', reason: opened.reason };
  return { kind: 'soft', handle: opened.handle, services: opened.services };
}
