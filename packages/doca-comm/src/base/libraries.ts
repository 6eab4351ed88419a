import { dirname, join } from 'node:path';
import type { LibraryKind } from '@verbs/core';
import { softModule, type VendorLibraryReport } from '@verbs/core/provider';
import { DocaError, DocaStatus } from './errors.js';
import { native, type LibraryHandle } from './native.js';
import { softModel } from './soft-model.js';

export type { LibraryKind };

/** The two APIs of DOCA for messages between host and DPU: Comch since 2.5, the Comm Channel up to 2.8. */
export type Api = 'comch' | 'comm-channel';

/** The loaded libraries. */
export interface Library {
  kind: LibraryKind;
  handle: LibraryHandle;
  /** Whether the Comm Channel has the functions about a service's state, which came with DOCA 2.x. */
  services: boolean;
  /** Undefined without Comch. `prefix` is that of its functions; `fastPath` says why it has no fast path, else ''. */
  comch: { prefix: string; fastPath: string } | undefined;
  /** Why an API is not there. */
  missing: Partial<Record<Api, string>>;
}
export type Attempt = Library | { kind: LibraryKind; reason: string; tried?: string };

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
export function anyLibrary(): { library: Library; api: Api } {
  const reasons: string[] = [];
  for (const kind of ['system', 'soft'] as const) {
    const library = loadLibrary(kind);
    if (!('reason' in library)) return { library, api: apiOf(library).api };
    reasons.push(library.reason);
  }
  throw new DocaError(DocaStatus.DRIVER, 'doca_devinfo_create_list', reasons.join('; '));
}

const ENVIRONMENT = 'VERBS_DOCA_API';
const names: Record<Api, string> = { comch: 'Comch', 'comm-channel': 'Comm Channel' };

/** The API that a device of these libraries is opened with, and why; `asked` is what the program wants. */
export function apiOf(library: Library, asked?: Api): { api: Api; why: string } {
  const variable = process.env[ENVIRONMENT];
  if (asked === undefined && variable !== undefined && !(variable in names)) {
    const hint = `${ENVIRONMENT} is "${variable}"; it must be comch or comm-channel`;
    throw new DocaError(DocaStatus.BAD_CONFIG, 'doca_dev_open', hint);
  }
  const wanted = asked ?? (variable as Api | undefined);
  if (wanted !== undefined) {
    const missing = library.missing[wanted];
    if (missing === undefined)
      return { api: wanted, why: asked ? 'the program asks for it' : `${ENVIRONMENT} says so` };
    throw new DocaError(DocaStatus.NOT_SUPPORTED, 'doca_dev_open', `there is no ${names[wanted]} here: ${missing}`);
  }
  const { comch, 'comm-channel': channel } = library.missing;
  if (comch !== undefined) return { api: 'comm-channel', why: `there is no Comch here: ${comch}` };
  return { api: 'comch', why: channel === undefined ? 'it is the newer one' : 'there is no Comm Channel here' };
}

const DIRECTORY = 'name its directory in VERBS_DOCA_LIBRARY_DIR';
const INSTALL = `install DOCA 1.5 or later, or ${DIRECTORY}`;

/** A library of DOCA as the loader is asked for it. */
function place(name: string, version = '.so.2'): string {
  const directory = process.env['VERBS_DOCA_LIBRARY_DIR'];
  const file = `libdoca_${name}${version}`;
  return directory === undefined ? file : join(directory, file);
}

/** Adds Comch, which was named cc in DOCA 2.5 and 2.6, and the Comm Channel to libdoca_common. */
function completed(kind: LibraryKind, handle: LibraryHandle, comch: string[], channel: string): Library {
  const missing: Partial<Record<Api, string>> = {};
  const reasons: string[] = [];
  let found: Library['comch'];
  for (const file of comch) {
    const opened = native.openComch(handle, file);
    if (opened.reason === undefined) {
      found = opened;
      break;
    }
    reasons.push(said(file, opened.reason));
  }
  if (found === undefined) missing.comch = reasons.join('; ');
  const opened = native.openChannel(handle, channel);
  if (opened.reason !== undefined) missing['comm-channel'] = said(channel, opened.reason);
  return { kind, handle, services: opened.reason === undefined && opened.services, comch: found, missing };
}

/** The loader's reasons name the file by themselves. */
function said(file: string, reason: string): string {
  return reason.startsWith('it ') ? `${file}: ${reason}` : reason;
}

function isEmpty({ missing }: Library): boolean {
  return missing.comch !== undefined && missing['comm-channel'] !== undefined;
}

function systemLibrary(): Attempt {
  const reasons: string[] = [];
  for (const version of ['.so.2', '.so.1', '.so']) {
    const common = place('common', version);
    const opened = native.openLibrary(common, '');
    if (opened.handle === undefined) {
      reasons.push(said(common, opened.reason));
      continue;
    }
    // The drop-in directory may be on LD_LIBRARY_PATH: that is not hardware.
    if (opened.soft) {
      reasons.push(`${common} found here is the software BlueField (see LD_LIBRARY_PATH)`);
      continue;
    }
    const files = [place('comch', version), place('cc', version)];
    const library = completed('system', opened.handle, files, place('comm_channel', version));
    if (!isEmpty(library)) return library;
    reasons.push(...Object.values(library.missing));
  }
  const found = here();
  if (found === undefined) return { kind: 'system', reason: `${reasons.join('; ')}: ${INSTALL}` };
  const tried = reasons.join('; ');
  const text = `the DOCA ${found.version === '' ? '' : `${found.version} `}here has ${found.parts}`;
  return { kind: 'system', reason: `${tried}; ${text}: ${found.remedy}`, tried };
}

/** The DOCA here, of which neither API can be used: what that means, and what to do. Undefined without DOCA. */
function here(): { version: string; parts: string; remedy: string } | undefined {
  const common = native.describe(place('common')) ?? native.describe(place('common', '.so.1'));
  if (common === undefined || common.soft) return undefined;
  const { version } = common;
  const old = /^(1\.|2\.[0-4])/.test(version);
  const parts = `${old ? 'no Comm Channel' : 'neither Comch nor a Comm Channel'} that can be used`;
  const installed = old ? 'doca-sdk-comm-channel' : 'doca-sdk-comch';
  return {
    version,
    parts,
    remedy: `install that part of it (Debian, Ubuntu: ${installed})`,
  };
}

/** What is known of an API in {@link LibraryReport}. */
export interface ApiReport {
  /** Which. */
  api: Api;
  /** The prefix of its functions: 'doca_comch_', 'doca_cc_' (DOCA 2.5 and 2.6) or 'doca_comm_channel_'. */
  functions?: string;
  /** Why it cannot be used, and for Comch why it has no fast path; not there if all of it is. */
  reason?: string;
}

/** What {@link probeLibraries} found. */
export interface LibraryReport {
  /** DOCA's own libraries, or the software BlueField's. */
  kind: LibraryKind;
  /** The APIs; empty where the libraries are not there. */
  apis: ApiReport[];
  /** What a device is opened with, unless the program says otherwise; not there if nothing can be used. */
  chosen?: Api;
  /** Why that one is chosen, or why there is none and what helps. */
  why: string;
}

/**
 * The libraries with their APIs, and which API is chosen: the newer one, unless the variable `VERBS_DOCA_API` says `comch` or
 * `comm-channel`. Nothing is opened by it.
 *
 * @example for (const { kind, chosen, why } of probeLibraries()) console.log(kind, chosen ?? 'none', why);
 */
export function probeLibraries(): LibraryReport[] {
  return (['system', 'soft'] as const).map((kind) => {
    const library = loadLibrary(kind);
    if ('reason' in library) return { kind, apis: [], why: library.reason };
    const { comch, missing } = library;
    const apis: ApiReport[] = [
      { api: 'comch', ...(comch && { functions: comch.prefix }), ...reasonOf(missing.comch ?? comch?.fastPath) },
      {
        api: 'comm-channel',
        ...(missing['comm-channel'] === undefined && { functions: 'doca_comm_channel_' }),
        ...reasonOf(missing['comm-channel']),
      },
    ];
    try {
      const { api, why } = apiOf(library);
      return { kind, apis, chosen: api, why };
    } catch (error) {
      return { kind, apis, why: (error as DocaError).message };
    }
  });
}

function reasonOf(reason: string | undefined): { reason?: string } {
  return reason === undefined || reason === '' ? {} : { reason };
}

/**
 * The DOCA of this machine: its file and version, and which of Comch and the Comm Channel is used; or why none can be.
 * `verbs doctor` prints it.
 *
 * @example
 * const { release, text } = vendorLibrary();
 * console.log(release ?? 'no DOCA', text);
 */
export function vendorLibrary(): VendorLibraryReport {
  const about = { name: 'DOCA', hardware: 'a BlueField' };
  const found = native.describe(place('common')) ?? native.describe(place('common', '.so.1'));
  // The drop-in directory may be on LD_LIBRARY_PATH: that is no DOCA.
  if (found === undefined || found.soft) return { ...about, text: 'no libdoca_common is here', remedy: INSTALL };
  const { file, version } = found;
  const report = { ...about, file, ...(version !== '' && { release: `DOCA ${version}` }) };
  const system = loadLibrary('system');
  if ('reason' in system) {
    const { parts, remedy } = here() ?? { parts: 'nothing', remedy: INSTALL };
    return { ...report, text: `it has ${parts}: ${system.tried ?? system.reason}`, remedy };
  }
  const [own] = probeLibraries();
  if (own?.chosen === undefined) return { ...report, text: own?.why ?? '', remedy: `unset ${ENVIRONMENT}` };
  return { ...report, text: `drives ${own.chosen === 'comch' ? '' : 'the '}${names[own.chosen]}: ${own.why}` };
}

function softLibrary(): Attempt {
  const soft = softModule();
  if ('reason' in soft) return { kind: 'soft', reason: soft.reason };
  const file = (name: string) => join(dirname(softModel.library), `libverbs-soft-doca-${name}.so.2`);
  const opened = native.openLibrary(file('common'), soft.library);
  if (opened.handle === undefined) return { kind: 'soft', reason: opened.reason };
  const library = completed('soft', opened.handle, [file('comch')], file('comm-channel'));
  return isEmpty(library) ? { kind: 'soft', reason: Object.values(library.missing).join('; ') } : library;
}
