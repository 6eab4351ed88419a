import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DocaError, DocaStatus } from './errors.js';
import { native, type LibraryHandle } from './native.js';

/** The vendor's own library, or the model of @verbs/soft. */
export type LibraryKind = 'system' | 'soft';

/** A loaded pair of libraries. */
export interface Library {
  kind: LibraryKind;
  handle: LibraryHandle;
  /** Whether it has the functions about a service's state, which came with DOCA 2.x. */
  services: boolean;
}
export type Attempt = Library | { kind: LibraryKind; reason: string };

// src/ and dist/ both lie right below the package's root.
const lib = join(dirname(fileURLToPath(import.meta.url)), '..', 'build', 'lib');

/** How tools let foreign programs use the software BlueField: see `dropInDirectory` of @verbs/soft. */
export const softModel = {
  /** What `kind=` says in the configuration of a device. */
  kind: 'doca',
  /** The model's library, for loading by this path. */
  library: join(lib, 'libverbs-soft-doca.so.1'),
  /** The folder with the model under the vendor's own names, `libdoca_comm_channel.so.2` and `libdoca_common.so.2`. */
  dropIn: join(lib, 'dropin'),
} as const;

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

/** The NIC's own words about a wrong configuration, if it has some. */
export function softFailure(): string | undefined {
  const text = softModule()?.lastError?.();
  return text === '' ? undefined : text;
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
  return {
    kind: 'system',
    reason: `${reasons.join('; ')}: install DOCA 1.5 to 2.8, or name its directory in VERBS_DOCA_LIBRARY_DIR`,
  };
}

function softLibrary(): Attempt {
  const soft = softModule();
  if (soft === undefined) {
    return { kind: 'soft', reason: 'the software NIC is not installed: npm install @verbs/soft' };
  }
  const file = (name: string) => join(lib, `libverbs-soft-doca-${name}.so.2`);
  const opened = native.openLibrary(file('common'), file('comm-channel'), soft.library);
  if (opened.handle === undefined) return { kind: 'soft', reason: opened.reason };
  return { kind: 'soft', handle: opened.handle, services: opened.services };
}

/** What this package needs of @verbs/soft, which it finds at run time: it is an optional peer. */
interface SoftModule {
  library: string;
  lastError?: () => string | undefined;
}

function softModule(): SoftModule | undefined {
  // Where this package is installed, where the program is, and where it was started.
  for (const place of [import.meta.url, process.argv[1], join(process.cwd(), 'package.json')]) {
    if (place === undefined || !/^(file:|\/)/.test(place)) continue;
    try {
      const found = createRequire(place)('@verbs/soft') as Partial<SoftModule>;
      if (typeof found.library === 'string') return found as SoftModule;
    } catch {
      // Not there; another place may have it.
    }
  }
  return undefined;
}
