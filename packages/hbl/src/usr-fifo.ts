import { setImmediate, setTimeout } from 'node:timers/promises';
import { types } from 'node:util';
import { type Context, enumName, VerbsError } from '@verbs/core';
import {
  checked,
  detachedError,
  errno,
  fields,
  isDetached,
  or,
  Resource,
  signalOf,
  u32,
  u8,
  validate,
  watchForLeak,
} from '@verbs/core/provider';
import { type Doorbell, encodeDoorbell } from './doorbell.js';
import { portHint } from './device.js';
import { UsrFifoType } from './enums.js';
import { forContext } from './libraries.js';
import { native, type NativeHandle } from './native.js';
import { queryPort } from './port.js';

const U32 = 0xffffffff;
const ENTRY_BYTES = 8;
/** Entries that stay free: the consumer index lags by one. */
const RESERVE = 2;
/** After this many checks without space, `space()` pauses between its checks. */
const EAGER_CHECKS = 64;

/** `struct hbldv_usr_fifo_attr`. */
export interface UsrFifoAttr {
  /** Counts from 1. */
  portNum: number;
  /** Any number but 0 is mandatory: if it is taken, the call fails. 0, the default, lets the device choose. */
  usrFifoNumHint?: number;
  /** {@link UsrFifoType}, default DB. */
  usrFifoType?: UsrFifoType;
  /** Of a FIFO of collectives: the address of its first sync object. The Gaudi SDK's library only. */
  baseSobAddr?: number;
  /** Of a FIFO of collectives: how many sync objects it has. The Gaudi SDK's library only. */
  numSobs?: number;
  /** Of a FIFO of collectives with a direction: the duplicators, a bit mask. The Gaudi SDK's library only. */
  dirDupMask?: number;
}

/**
 * A hardware resource of a port that takes commands directly from the program. Made by {@link createUsrFifo}; `close()` is
 * `hbldv_destroy_usr_fifo`.
 *
 * Members replace the pointers of the C structure: `ci` reads the consumer index that the device writes, `push()` stores
 * to the register.
 */
export class UsrFifo extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** The port, from 1. */
  readonly portNum: number;
  /** See {@link UsrFifoType}. */
  readonly usrFifoType: UsrFifoType;
  /** The resource's number, from 1. */
  readonly usrFifoNum: number;
  /** Bytes; an entry has 8. */
  readonly size: number;
  /** Bytes: at this fill level the device reports back-pressure. */
  readonly bpThresh: number;
  /** Bytes, within the page of registers. */
  readonly regsOffset: number;
  readonly #mapped: boolean;

  /** @internal */
  constructor(
    context: Context,
    attr: { portNum: number; usrFifoType: UsrFifoType },
    made: {
      handle: NativeHandle;
      usrFifoNum: number;
      size: number;
      bpThresh: number;
      regsOffset: number;
      mapped: boolean;
    },
  ) {
    super('UsrFifo', made.handle, 'hbldv_destroy_usr_fifo', [context]);
    this.context = context;
    this.portNum = attr.portNum;
    this.usrFifoType = attr.usrFifoType;
    this.usrFifoNum = made.usrFifoNum;
    this.size = made.size;
    this.bpThresh = made.bpThresh;
    this.regsOffset = made.regsOffset;
    this.#mapped = made.mapped;
    watchForLeak(this, 'UsrFifo', 'the device takes its entries no more');
  }

  /** The number of entries. */
  get entries(): number {
    return this.size / ENTRY_BYTES;
  }

  /** False if this context may not map registers: then `push()` fails. */
  get mapped(): boolean {
    return this.#mapped;
  }

  /** The current consumer index: in entries, modulo {@link UsrFifo.entries}. */
  get ci(): number {
    return native.consumerIndex(this.use('hbldv_usr_fifo.ci_cpu_addr'));
  }

  /** The number of doorbells that fit now: at most `entries - 2`. */
  get free(): number {
    return native.space(this.use('hbldv_usr_fifo.ci_cpu_addr'));
  }

  /** Whether the fill level has reached the back-pressure threshold. */
  get underPressure(): boolean {
    return (this.entries - RESERVE - this.free) * ENTRY_BYTES >= this.bpThresh;
  }

  /**
   * Pushes doorbells in their order, each by one 64-bit store. The device sees earlier writes to work queues first. Never
   * waits: returns the number of doorbells that fitted. Push the rest after `await fifo.space()`.
   *
   * @throws VerbsError EOPNOTSUPP if the registers are not mapped
   * @example
   * const doorbell = encodeDoorbell({ index: 1, qpNum: queryQp(qp).qpNum, portNum: 1 });
   * while (fifo.push(doorbell) === 0) await fifo.space();
   */
  push(doorbells: bigint | Doorbell | BigUint64Array, first = 0, count = Number.MAX_SAFE_INTEGER): number {
    const fifo = this.use('hbldv_usr_fifo.regs_cpu_addr');
    const many = types.isBigUint64Array(doorbells);
    if (many) {
      // None would fit, for ever.
      if (isDetached(doorbells)) throw detachedError('doorbells');
      validate.integer(first, 'first', 0, doorbells.length);
      validate.integer(count, 'count', 0, Number.MAX_SAFE_INTEGER);
    }
    const value = many ? doorbells : typeof doorbells === 'object' ? encodeDoorbell(doorbells) : one(doorbells);
    const pushed = native.push(fifo, value, first, Math.min(count, U32));
    if (pushed >= 0) return pushed;
    throw new VerbsError(pushed, 'hbldv_usr_fifo.regs_cpu_addr', {
      hint: 'this context has no mapped registers (regs_cpu_addr is -1)',
    });
  }

  /** Resolves when `wanted` doorbells fit. The event loop runs meanwhile. Rejects with the signal's reason. */
  async space(wanted = 1, options?: { signal?: AbortSignal }): Promise<void> {
    const signal = signalOf(options);
    validate.integer(wanted, 'wanted', 1, this.entries - RESERVE);
    for (let checks = 0; ; checks++) {
      signal?.throwIfAborted();
      if (this.free >= wanted) return;
      if (checks < EAGER_CHECKS) await setImmediate();
      else await setTimeout(1);
    }
  }

  /** Pushes all doorbells, and waits for space as often as necessary. The array may change as soon as this returns. */
  async pushAll(doorbells: BigUint64Array, options?: { signal?: AbortSignal }): Promise<void> {
    if (!types.isBigUint64Array(doorbells)) throw validate.typeError('doorbells', 'a BigUint64Array', doorbells);
    const signal = signalOf(options);
    const all = isDetached(doorbells) ? doorbells : doorbells.slice();
    for (let done = this.push(all); done < all.length; done += this.push(all, done)) {
      await this.space(1, signal && { signal });
    }
  }

  protected override describe() {
    const { portNum, usrFifoNum, size, bpThresh } = this;
    return { portNum, usrFifoNum, size, bpThresh };
  }
}

function one(doorbell: unknown): bigint {
  if (typeof doorbell !== 'bigint')
    throw validate.typeError('doorbells', 'a bigint, a Doorbell or a BigUint64Array', doorbell);
  validate.u64(doorbell, 'doorbells');
  return doorbell;
}

const checkAttr = fields({
  portNum: u32(),
  usrFifoNumHint: or(u32(), 0),
  usrFifoType: or(u32(), UsrFifoType.DB),
  baseSobAddr: or(u32(), 0),
  numSobs: or(u32(), 0),
  dirDupMask: or(u8(), 0),
});

/**
 * `hbldv_create_usr_fifo`.
 *
 * @throws VerbsError EPERM (no setPortEx yet), EBUSY (the number of the hint is taken, or none is left), EINVAL (the
 *   port, the hint or the type), ENODEV (the port is closed)
 * @example
 * const fifo = createUsrFifo(ctx, { portNum: 1, usrFifoType: UsrFifoType.DB });
 */
export function createUsrFifo(ctx: Context, attr: UsrFifoAttr): UsrFifo {
  const syscall = 'hbldv_create_usr_fifo';
  const { vendor: hbl, handle } = forContext(ctx, syscall);
  const given = checkAttr(attr, 'attr');
  const result = native.createUsrFifo(hbl, handle, given);
  const hint = portHint(ctx, given.portNum, result) ?? (result === -errno.EINVAL ? fifoHint(ctx, given) : undefined);
  return new UsrFifo(ctx, given, checked(result, syscall, { detail: `on port ${given.portNum}`, hint }));
}

/** What is wrong with the FIFO that was asked for; undefined where only the general remedy is left. */
function fifoHint(
  ctx: Context,
  { portNum, usrFifoType: type, usrFifoNumHint: number }: Record<'portNum' | 'usrFifoType' | 'usrFifoNumHint', number>,
): string | undefined {
  if (!Object.values<number>(UsrFifoType).includes(type)) return `usrFifoType ${type} is none of UsrFifoType`;
  if (type > UsrFifoType.CC && !native.isSdk(forContext(ctx, 'hbldv_create_usr_fifo').vendor)) {
    return `usrFifoType ${enumName(UsrFifoType, type)}: the Gaudi SDK's library only`;
  }
  const { maxNumOfUsrFifos: most } = queryPort(ctx, portNum);
  return number > most ? `usrFifoNumHint is ${number}; the port has 1 to ${most}` : undefined;
}
