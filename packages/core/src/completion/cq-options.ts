import type { CompletionChannel } from './completion-channel.js';
import type { NativeHandle } from '../base/native.js';
import type { ProtectionDomain } from '../device/protection-domain.js';
import { handleOf } from '../lifetime/resource.js';
import { integer, object, optional } from '../base/validate.js';

/** What {@link Context.createCq} may be told. */
export interface CqOptions {
  /** Needed for `cq.wait()` and `for await (… of cq)`. */
  channel?: CompletionChannel;
  /** Which interrupt of the device serves the queue, default 0. */
  compVector?: number;
  /** See {@link WcExFlags}: what completions tell; default the plain fields. */
  wcFlags?: number;
  /** See {@link CreateCqFlags}; default 0. */
  flags?: number;
  /** The parent domain whose thread uses the queue. */
  parentDomain?: ProtectionDomain;
}

const extendedNames = ['wcFlags', 'flags', 'parentDomain'];
/** What `struct ibv_wc` has. */
const STANDARD_WC = 0x7f;

function extendedCq(given: Record<string, unknown>) {
  const domain = given['parentDomain'];
  return {
    /** See {@link WcExFlags}. */
    wcFlags: BigInt(optional(given['wcFlags'], 'options.wcFlags', 0x7fffffff, STANDARD_WC)),
    /** See {@link CreateCqFlags}. */
    flags: optional(given['flags'], 'options.flags', 0x7fffffff, 0),
    ...(domain === undefined
      ? {}
      : {
          /** The parent domain's. */
          parentDomain: handleOf(domain, 'ProtectionDomain', 'options.parentDomain', 'ibv_create_cq_ex'),
        }),
  };
}

/**
 * Checks every option by its name; `extended` is there if one asks for `ibv_create_cq_ex`. `given` has the options as
 * they were read, once.
 */
export function nativeCqOptions(options: CqOptions): {
  /** What the program gave, read once. */
  given: CqOptions;
  /** The completion channel's. */
  channel: NativeHandle | undefined;
  /** With its default. */
  compVector: number;
  /** What only `ibv_create_cq_ex` takes. */
  extended: ReturnType<typeof extendedCq> | undefined;
} {
  const given = object(options, 'options', ['channel', 'compVector', ...extendedNames]);
  const channel = given['channel'];
  return {
    given,
    channel:
      channel === undefined ? undefined : handleOf(channel, 'CompletionChannel', 'options.channel', 'ibv_create_cq'),
    compVector: optional(given['compVector'], 'options.compVector', 0x7fffffff, 0),
    extended: extendedNames.some((name) => given[name] !== undefined) ? extendedCq(given) : undefined,
  };
}

/** Checks the size that `createCq` is asked for. */
export function checkCqe(cqe: unknown): number {
  return integer(cqe, 'cqe', 1, 0x7fffffff);
}
