import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { check, VerbsError } from '../base/errors.js';
import { errno } from '../base/errno.js';
import { u64 } from '../base/fields.js';
import { brief } from '../base/inspection.js';
import { native, type NativeHandle } from '../base/native.js';
import { signalOf, type WaitOptions } from '../base/wait-options.js';
import { CompCntrType, enumName } from '../enums/index.js';
import { Resource } from '../lifetime/resource.js';
import type { Context } from '../types/objects.js';
import { Spin } from './spin.js';

/** `struct ibv_comp_cntr_caps`. */
export interface CompCntrCaps {
  /** The largest value of a counter, behind which it begins at 0 again. */
  maxValue: bigint;
  /** How many counters the device has. */
  maxCounters: number;
  /** The operations that can be counted: `QpAttachCompCntrOp`, or-ed. */
  supportedQpAttachOps: number;
}

/** Microseconds that a wait polls before it gives the loop its turn. */
const SPIN = 50;
/** Turns of the loop before a wait sleeps between two looks. */
const TURNS = 100;
const LONGEST_SLEEP = 1;

/**
 * `ibv_comp_cntr`: how many work requests, or bytes of them, have completed on the queue pairs that were attached to it,
 * signaled or not. Created by {@link Context.createCompCntr}; `close()` is `ibv_destroy_comp_cntr`, and closes those queue
 * pairs first, which cannot do without it. libibverbs has it since release 65.
 *
 * @example
 * using counter = ctx.createCompCntr();
 * qp.attachCompCntr(counter, QpAttachCompCntrOp.REMOTE_RDMA_WRITE); // in RESET or INIT
 * await counter.reach(100n); // the peer has written a hundred messages
 */
export class CompletionCounter extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** What it counts. */
  readonly type: CompCntrType;
  readonly #spin = new Spin(SPIN);

  /** @internal */
  constructor(context: Context, type: CompCntrType, handle: NativeHandle) {
    super('CompletionCounter', handle, 'ibv_destroy_comp_cntr', [context]);
    this.context = context;
    this.type = type;
  }

  /** `ibv_read_comp_cntr`: what has completed. The software NIC makes progress in this call. */
  read(): bigint {
    return this.#read(false);
  }

  /** `ibv_read_err_comp_cntr`: the requests that have completed with an error. */
  readErrors(): bigint {
    return this.#read(true);
  }

  /** `ibv_set_comp_cntr`. What completes at the same moment may be lost. */
  set(value: bigint | number): void {
    this.#change('ibv_set_comp_cntr', false, false, value);
  }

  /** `ibv_set_err_comp_cntr`. */
  setErrors(value: bigint | number): void {
    this.#change('ibv_set_err_comp_cntr', true, false, value);
  }

  /** `ibv_inc_comp_cntr`. */
  inc(amount: bigint | number = 1n): void {
    this.#change('ibv_inc_comp_cntr', false, true, amount);
  }

  /** `ibv_inc_err_comp_cntr`. */
  incErrors(amount: bigint | number = 1n): void {
    this.#change('ibv_inc_err_comp_cntr', true, true, amount);
  }

  /**
   * Waits until the counter is `value` or more. The verbs have no event for counters, so `ibv_read_comp_cntr` is called again and
   * again: at first without a pause, then once in each turn of the loop, then every millisecond.
   *
   * @returns the value that was read
   * @throws VerbsError EIO if the count of errors rises meanwhile; ERR_VERBS_CLOSED if the counter is closed
   * @throws the reason of `signal` if it aborts
   * @example await counter.reach(8n, { signal: AbortSignal.timeout(1000) });
   */
  async reach(value: bigint | number, options?: WaitOptions): Promise<bigint> {
    const signal = signalOf(options);
    const wanted = u64()(value, 'value');
    const errors = this.readErrors();
    const look = () => {
      signal?.throwIfAborted();
      const now = this.read();
      if (now >= wanted) return now;
      const failed = this.readErrors() - errors;
      if (failed <= 0n) return undefined;
      const hint = `${failed} counted requests failed: their completions, or an asynchronous event, say why`;
      throw new VerbsError(errno.EIO, 'ibv_read_comp_cntr', { detail: `at ${now} of ${wanted}`, hint });
    };
    let found = look();
    if (found === undefined && this.#spin.begins()) {
      do found = look();
      while (found === undefined && this.#spin.goesOn());
      if (found !== undefined) this.#spin.succeeds();
    }
    for (let turn = 0; found === undefined; ++turn) {
      await (turn < TURNS ? nextTurn() : sleep(LONGEST_SLEEP));
      found = look();
    }
    return found;
  }

  protected override describe() {
    const value = this.closed ? {} : { value: this.read(), errors: this.readErrors() };
    return { type: enumName(CompCntrType, this.type), ...value, context: brief(this.context) };
  }

  #read(errors: boolean): bigint {
    const syscall = errors ? 'ibv_read_err_comp_cntr' : 'ibv_read_comp_cntr';
    const value = native.readCompCntr(this.use(syscall), errors);
    if (typeof value === 'number') throw new VerbsError(value, syscall);
    return value;
  }

  #change(syscall: string, errors: boolean, adds: boolean, value: bigint | number): void {
    const counter = this.use(syscall);
    check(-Math.abs(native.changeCompCntr(counter, errors, adds, u64()(value, adds ? 'amount' : 'value'))), syscall);
  }
}
