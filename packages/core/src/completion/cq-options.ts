import { fields, maybe, or, range, u31, unchecked } from '../base/fields.js';
import type { NativeHandle } from '../base/native.js';
import { kEvents } from '../base/symbols.js';
import { integer } from '../base/validate.js';
import type { CreateCqFlags, WcExFlags } from '../enums/index.js';
import { handleOf } from '../lifetime/resource.js';
import type { Context, ProtectionDomain } from '../types/objects.js';
import type { CompletionChannel } from './completion-channel.js';

/** The options of {@link Context.createCq}. */
export interface CqOptions {
  /** Where its events go, for awaiting; default one that all such queues of the context share. `null`: polling only. */
  channel?: CompletionChannel | null;
  /** Which interrupt of the device serves the queue, default 0. */
  compVector?: number;
  /** See {@link WcExFlags}: the fields of its completions; default those of `struct ibv_wc`. */
  wcFlags?: WcExFlags;
  /** See {@link CreateCqFlags}; default 0. */
  flags?: CreateCqFlags;
  /** The parent domain whose thread uses the queue. */
  parentDomain?: ProtectionDomain;
  /**
   * Awaiting calls poll for up to that many microseconds before they sleep, 0 to 10000, default 100; the event loop runs
   * meanwhile. The default is longer than what being woken usually takes. A queue whose completions do not come within that
   * time, as on a loaded machine, stops doing so, and tries again now and then. 0: never.
   */
  spin?: number;
}

/** The fields of `struct ibv_wc`. */
const STANDARD_WC = 0x7f;

/** Microseconds. */
export const DEFAULT_SPIN = 100;

const cqOptions = fields({
  channel: unchecked,
  compVector: or(u31(), 0),
  wcFlags: maybe(u31()),
  flags: maybe(u31()),
  parentDomain: unchecked,
  spin: or(range(0, 10_000), DEFAULT_SPIN),
});

/** The attributes of `ibv_create_cq_ex` alone. */
export interface ExtendedCq {
  /** See {@link WcExFlags}. */
  wcFlags: bigint;
  /** See {@link CreateCqFlags}. */
  flags: number;
  /** The parent domain's. */
  parentDomain?: NativeHandle;
}

/** Checks every option by its name. `context` has the channel of queues that are given none. */
export function nativeCqOptions(
  options: CqOptions,
  context: Context,
): {
  /** The options of the program, read once, with the channel of the context where none is given. */
  given: Omit<CqOptions, 'channel'> & {
    /** Undefined: the queue can only be polled. */
    channel: CompletionChannel | undefined;
  };
  /** The completion channel's. */
  channel: NativeHandle | undefined;
  /** With its default. */
  compVector: number;
  /** Is there if an option needs `ibv_create_cq_ex`. */
  extended: ExtendedCq | undefined;
} {
  const given = cqOptions(options, 'options');
  const { compVector, wcFlags, flags, parentDomain } = given;
  const channel = given.channel === null ? undefined : (given.channel ?? context[kEvents]);
  const extended = wcFlags !== undefined || flags !== undefined || parentDomain !== undefined;
  return {
    given: { ...(given as CqOptions), channel: channel as CompletionChannel | undefined },
    channel:
      channel === undefined ? undefined : handleOf(channel, 'CompletionChannel', 'options.channel', 'ibv_create_cq'),
    compVector,
    extended: extended
      ? {
          wcFlags: BigInt(wcFlags ?? STANDARD_WC),
          flags: flags ?? 0,
          ...(parentDomain !== undefined && {
            parentDomain: handleOf(parentDomain, 'ProtectionDomain', 'options.parentDomain', 'ibv_create_cq_ex'),
          }),
        }
      : undefined,
  };
}

/** Checks the size that `createCq` is asked for. */
export function checkCqe(cqe: unknown): number {
  return integer(cqe, 'cqe', 1, 0x7fffffff);
}
