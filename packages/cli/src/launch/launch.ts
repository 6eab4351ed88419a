import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { configure, type ReasonReport } from '@verbs/soft';
import { Failure, messageOf } from '@verbs/lib/failure';
import { Collection, incompleteFailure } from '../capture/collect.js';
import type { CaptureSummary } from '../capture/pcapng.js';
import { note } from '../output.js';
import { runProgram } from './child.js';
import { configurationText } from './configuration.js';
import { type DropIn, prepareDropIn, unusable } from './drop-in.js';
import { ReasonFile } from './reason-file.js';

export interface LaunchOptions {
  device?: string[];
  faults?: string;
  /** The file that the capture goes to. */
  capture?: string;
  /** Called with what the software NIC of a program drops, fails and refuses, soon after it happens. */
  report?: (reason: ReasonReport) => void;
}

export interface LaunchResult {
  /** The program's exit status. */
  status: number;
  capture?: CaptureSummary;
}

/**
 * Tells of a program that uses verbs, on a run of which none has loaded the software NIC: it had the system's library, and
 * would fail, or find no device, without a word about why. Programs that a script starts are not seen.
 */
function tellOthers(command: readonly string[]): void {
  const program = command.find(usesVerbs);
  if (program === undefined) return;
  note(
    `verbs: ${program} did not ask the software NIC for devices. If it asked for some, it has another libibverbs: by a path ` +
      'of its own (DT_RPATH), by what replaces LD_LIBRARY_PATH or the environment (env -i), or as a set-user-ID or static program',
  );
}

/** Whether a word of the command is a program that names libibverbs or librdmacm. */
function usesVerbs(word: string): boolean {
  const folders = word.includes('/') ? [''] : (process.env['PATH'] ?? '').split(':').map((path) => `${path}/`);
  return folders.some((folder) => {
    try {
      const bytes = readFileSync(`${folder}${word}`);
      return bytes.subarray(0, 4).equals(ELF) && ['libibverbs.so', 'librdmacm.so'].some((name) => bytes.includes(name));
    } catch {
      return false;
    }
  });
}

const ELF = Buffer.from('\x7fELF');

/** Runs an unmodified program on the software NIC. */
export async function launch(command: readonly string[], options: LaunchOptions): Promise<LaunchResult> {
  const [program, ...args] = command;
  if (program === undefined) throw new Failure('no program is given', { hint: 'verbs run -- PROGRAM', exitCode: 2 });
  const dropIn = await prepareDropIn();
  try {
    const collection = options.capture === undefined ? undefined : new Collection(options.capture);
    try {
      const environment = environmentFor(dropIn, options, collection);
      const reasons = reasonFile(dropIn, options, collection);
      if (reasons !== undefined) environment['VERBS_SOFT_WHY'] = reasons.path;
      checkConfiguration(environment['VERBS_SOFT'] ?? '', options);
      dropIn.makeFiles(environment);
      const status = await runProgram(program, args, environment).finally(() => reasons?.finish());
      if (!dropIn.used()) tellOthers(command);
      return collection === undefined ? { status } : await withCapture(status, collection, options.capture ?? '');
    } finally {
      collection?.discard();
    }
  } finally {
    dropIn.remove();
  }
}

/** For whoever asked for the reasons, and for the capture. A file that the user has asked for stays that. */
function reasonFile(
  { environment }: DropIn,
  { report }: LaunchOptions,
  collection: Collection | undefined,
): ReasonFile | undefined {
  if (report === undefined && (collection === undefined || process.env['VERBS_SOFT_WHY'])) return undefined;
  // In the folder of the run, which goes with it.
  return new ReasonFile(join(environment['VERBS_SOFT_SYSTEM'] ?? '', 'why'), (reason) => {
    report?.(reason);
    collection?.reasons.add(reason);
  });
}

function environmentFor(
  { environment, models }: DropIn,
  options: LaunchOptions,
  collection?: Collection,
): NodeJS.ProcessEnv {
  const configuration = configurationText(process.env['VERBS_SOFT'], {
    models,
    ...(options.device && { devices: options.device }),
    ...(options.faults !== undefined && { faults: options.faults }),
    ...(collection && { capture: collection.pattern }),
  });
  return { ...gidIndices(configuration), ...process.env, ...environment, VERBS_SOFT: configuration };
}

/**
 * UCX takes the first IPv4 entry of a GID table by itself, and libfabric the first entry, for datagrams. That is the loopback
 * address, which leads to no other host. Where the device has the addresses of the host, the first one is entry 1.
 */
function gidIndices(configuration: string): NodeJS.ProcessEnv {
  const outer = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const alone = outer.every(({ internal }) => internal) || /[\s,;](addr=|gids=|link=process)/.test(configuration);
  return alone ? {} : { UCX_IB_GID_INDEX: '1', FI_VERBS_GID_IDX: '1' };
}

/** Reports the NIC's own reason before the program starts, which could only report that it finds no device. */
function checkConfiguration(text: string, { device, faults }: LaunchOptions): void {
  try {
    configure(text);
  } catch (error) {
    // Anything else but EINVAL is no matter of the text: the library is missing, or does not load.
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw unusable(error);
    const given = device !== undefined || faults !== undefined;
    throw new Failure(messageOf(error), {
      hint: given ? 'correct --device or --faults' : 'correct VERBS_SOFT, or unset it for the default device',
      exitCode: given ? 2 : 1,
      cause: error,
    });
  }
}

async function withCapture(status: number, collection: Collection, target: string): Promise<LaunchResult> {
  try {
    const capture = await collection.finish();
    const failure = incompleteFailure(target, capture);
    if (failure !== undefined) throw failure;
    return { status, capture };
  } catch (error) {
    // The status reports the program's own failure; the capture's is printed as well.
    if (status === 0 || !(error instanceof Failure)) throw error;
    note(`verbs: ${error.message}`);
    return { status };
  }
}
