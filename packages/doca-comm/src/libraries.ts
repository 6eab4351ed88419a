import { dirname, join } from 'node:path';
import type { LibraryKind } from '@verbs/core';
import { softModule } from '@verbs/core/provider';
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

function systemLibrary(): Attempt {
  const directory = process.env['VERBS_DOCA_LIBRARY_DIR'];
  const reasons: string[] = [];
  for (const version of ['.so.2', '.so.1', '.so']) {
    const [common, channel] = ['common', 'comm_channel'].map((name) => {
      const file = `libdoca_${name}${version}`;
      return directory === undefined ? file : join(directory, file);
    }) as [string, string];
    const opened = native.openLibrary(common, channel, '');
    if (opened.handle === undefined) reasons.push(opened.reason);
    // The drop-in directory may be on LD_LIBRARY_PATH: that is not hardware.
    else if (opened.soft) reasons.push(`${channel} found here is the software BlueField (see LD_LIBRARY_PATH)`);
    else return { kind: 'system', handle: opened.handle, services: opened.services };
  }
  return { kind: 'system', reason: `${reasons.join('; ')}: ${remedy(directory)}` };
}

/** What to do where the Comm Channel is missing: DOCA itself may be there, without it. */
function remedy(directory: string | undefined): string {
  const place = (file: string) => (directory === undefined ? file : join(directory, file));
  const loads = (name: string) => native.loads(place(`libdoca_${name}.so.2`));
  if (!loads('common')) return 'install DOCA 1.5 to 2.8, or name its directory in VERBS_DOCA_LIBRARY_DIR';
  const comch = loads('comch') ? ', but Comch, which replaces it and which this package does not drive' : '';
  return (
    `the DOCA here has no Comm Channel, which ended with release 2.8${comch}: ` +
    'install DOCA 1.5 to 2.8 beside it and name its directory in VERBS_DOCA_LIBRARY_DIR'
  );
}

function softLibrary(): Attempt {
  const soft = softModule();
  if ('reason' in soft) return { kind: 'soft', reason: soft.reason };
  const file = (name: string) => join(dirname(softModel.library), `libverbs-soft-doca-${name}.so.2`);
  const opened = native.openLibrary(file('common'), file('comm-channel'), soft.library);
  if (opened.handle === undefined) return { kind: 'soft', reason: opened.reason };
  return { kind: 'soft', handle: opened.handle, services: opened.services };
}
