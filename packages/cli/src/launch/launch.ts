import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { listDevices } from '@verbs/core';
import { configure, type ReasonReport } from '@verbs/soft';
import { Failure, messageOf } from '@verbs/lib/failure';
import { Collection, incompleteFailure } from '../capture/collect.js';
import type { CaptureSummary } from '../capture/pcapng.js';
import { note } from '../output.js';
import { runProgram } from './child.js';
import { configurationText } from './configuration.js';
import { type DropIn, prepareDropIn, unusable } from './drop-in.js';
import { tellOthers } from './others.js';
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
  /** Undefined if there is none: none was asked for, or it failed as the program did. */
  capture?: CaptureSummary;
}

/** Runs an unmodified program on the software NIC. */
export async function launch(command: readonly string[], options: LaunchOptions): Promise<LaunchResult> {
  const [program, ...args] = command;
  if (program === undefined) throw new Failure('no program is given', { hint: 'verbs run -- PROGRAM', exitCode: 2 });
  const dropIn = await prepareDropIn();
  try {
    const collection = options.capture === undefined ? undefined : new Collection(options.capture);
    try {
      const environment = environmentFor(dropIn, options, collection);
      checkConfiguration(environment['VERBS_SOFT'] ?? '', options);
      tellLeftOut(environment['VERBS_SOFT'] ?? '');
      dropIn.makeFiles(environment);
      // It looks into its file until the program has ended: nothing may fail in between.
      const reasons = reasonFile(dropIn, options, collection);
      if (reasons !== undefined) environment['VERBS_SOFT_WHY'] = reasons.path;
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

/** A device of a kind that no package here has: only a library of the program's own could add it. */
function tellLeftOut(configuration: string): void {
  if (!/,\s*kind\s*=/.test(configuration)) return;
  const { leftOut = [] } = listDevices({ library: 'soft' });
  for (const { name, reason } of leftOut) note(`verbs: ${name} is left out: ${reason}`);
}

async function withCapture(status: number, collection: Collection, target: string): Promise<LaunchResult> {
  let capture: CaptureSummary;
  try {
    capture = await collection.finish();
  } catch (error) {
    return { status: statusDespite(error, status) };
  }
  const failure = incompleteFailure(target, capture);
  return { status: failure === undefined ? status : statusDespite(failure, status), capture };
}

/** The status reports the program's own failure; an error in what is made of its run is printed as well. */
export function statusDespite(error: unknown, status: number): number {
  if (status === 0) throw error;
  note(`verbs: ${messageOf(error)}`);
  return status;
}
