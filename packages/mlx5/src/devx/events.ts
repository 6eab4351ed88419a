import type { Context } from '@verbs/core';
import { errno, handleOf, list, members, type Members, Resource, u16, validate } from '@verbs/core/provider';
import { done, made } from '../base/calls.js';
import { forContext, libraryFor } from '../base/libraries.js';
import { native, type NativeHandle, type NativeLibrary } from '../native/index.js';
import { request } from './command.js';
import type { DevxObject } from './object.js';

/** The output of an asynchronous command. */
export interface AsyncAnswer {
  /** The `wrId` of {@link CommandCompletions.queryObj}. */
  wrId: bigint;
  /** The command's output, in the device's layout. */
  out: Uint8Array;
}

/**
 * `struct mlx5dv_devx_cmd_comp`: a queue of outputs of asynchronous commands. Made by
 * {@link devx.createCommandCompletions}; `close()` is `mlx5dv_devx_destroy_cmd_comp`.
 */
export class CommandCompletions extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** Readable when there is an output. It belongs to the object: do not close it. */
  readonly fd: number;

  /** @internal */
  constructor(context: Context, made: { handle: NativeHandle; fd: number }) {
    super('CommandCompletions', made.handle, 'mlx5dv_devx_destroy_cmd_comp', [context]);
    this.context = context;
    this.fd = made.fd;
  }

  #library(syscall: string): NativeLibrary {
    return libraryFor(this.context.device.library, syscall);
  }

  /**
   * `mlx5dv_devx_obj_query_async`: starts a query command on an object.
   *
   * @param wrId the output returns it
   * @throws VerbsError EINVAL, EAGAIN (too many outstanding), EOPNOTSUPP
   */
  queryObj(obj: DevxObject, input: Uint8Array, outLength: number, wrId: bigint | number): void {
    const syscall = 'mlx5dv_devx_obj_query_async';
    const completions = this.use(syscall);
    const object = handleOf(obj, 'DevxObject', 'obj', syscall);
    const { bytes } = request(input, outLength);
    const id = BigInt(validate.u64(wrId, 'wrId'));
    const about = { library: this.#library(syscall), syscall };
    done(native.devxObjQueryAsync(object, bytes, BigInt(outLength), id, completions), about);
  }

  /**
   * `mlx5dv_devx_get_async_cmd_comp`: the next output, or undefined if there is none. Never waits.
   *
   * @param outLength bytes of the largest output
   * @throws VerbsError ENOSPC (the output is longer)
   */
  next(outLength: number): AsyncAnswer | undefined {
    const syscall = 'mlx5dv_devx_get_async_cmd_comp';
    const completions = this.use(syscall);
    const out = new Uint8Array(validate.integer(outLength, 'outLength', 16, 0xffff));
    const wrId = native.devxGetAsyncCmdComp(completions, out);
    if (typeof wrId === 'bigint') return { wrId, out };
    if (wrId === -errno.EAGAIN) return undefined;
    done(wrId, { library: this.#library(syscall), syscall });
    return undefined;
  }

  protected override describe(): Record<string, unknown> {
    return { fd: this.fd };
  }
}

/** `mlx5dv_devx_create_cmd_comp`. @throws VerbsError EOPNOTSUPP, ENOMEM */
export function createCommandCompletions(ctx: Context): CommandCompletions {
  const syscall = 'mlx5dv_devx_create_cmd_comp';
  const { library, handle } = forContext(ctx, syscall);
  return new CommandCompletions(ctx, made(native.devxCreateCmdComp(library, handle), { library, syscall }));
}

enum EventChannelFlagsValue {
  /** Events have no data. */
  OMIT_EV_DATA = 1,
}
/** `enum mlx5dv_devx_create_event_channel_flags`. */
export const EventChannelFlags: Members<typeof EventChannelFlagsValue> = members(EventChannelFlagsValue);
/** Or-ed values of {@link EventChannelFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type EventChannelFlags = EventChannelFlagsValue | 0;

/** An event of an object, or of the device. */
export interface DevxEvent {
  /** The `cookie` of {@link EventChannel.subscribe}. */
  cookie: bigint;
  /** The entry of the event queue, in the layout of the device's manual; empty with OMIT_EV_DATA. */
  data: Uint8Array;
}

/**
 * `struct mlx5dv_devx_event_channel`: a queue of events. Made by {@link devx.createEventChannel}; `close()` is
 * `mlx5dv_devx_destroy_event_channel`.
 */
export class EventChannel extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** Readable when there is an event. It belongs to the object: do not close it. */
  readonly fd: number;

  /** @internal */
  constructor(context: Context, made: { handle: NativeHandle; fd: number }) {
    super('EventChannel', made.handle, 'mlx5dv_devx_destroy_event_channel', [context]);
    this.context = context;
    this.fd = made.fd;
  }

  #library(syscall: string): NativeLibrary {
    return libraryFor(this.context.device.library, syscall);
  }

  /**
   * `mlx5dv_devx_subscribe_devx_event`.
   *
   * @param obj undefined for events of the device
   * @param events their numbers in the device's manual
   * @param cookie each event returns it
   * @throws VerbsError EINVAL, EOPNOTSUPP
   */
  subscribe(obj: DevxObject | undefined, events: readonly number[], cookie: bigint | number = 0n): void {
    const syscall = 'mlx5dv_devx_subscribe_devx_event';
    const channel = this.use(syscall);
    const object = obj === undefined ? undefined : handleOf(obj, 'DevxObject', 'obj', syscall);
    const numbers = list(u16(), 0x7fff)(events, 'events');
    const id = BigInt(validate.u64(cookie, 'cookie'));
    done(native.devxSubscribeDevxEvent(channel, object, numbers, id), { library: this.#library(syscall), syscall });
  }

  /**
   * `mlx5dv_devx_subscribe_devx_event_fd`: events write to a descriptor of the caller (an eventfd) instead.
   *
   * @param obj undefined for events of the device
   * @throws VerbsError EINVAL, EBADF, EOPNOTSUPP
   */
  subscribeFd(fd: number, obj: DevxObject | undefined, event: number): void {
    const syscall = 'mlx5dv_devx_subscribe_devx_event_fd';
    const channel = this.use(syscall);
    const object = obj === undefined ? undefined : handleOf(obj, 'DevxObject', 'obj', syscall);
    validate.integer(fd, 'fd', 0, 0x7fffffff);
    validate.integer(event, 'event', 0, 0xffff);
    done(native.devxSubscribeDevxEventFd(channel, fd, object, event), { library: this.#library(syscall), syscall });
  }

  /**
   * `mlx5dv_devx_get_event`: the next event, or undefined if there is none. Never waits.
   *
   * @param maxData bytes of data at most, default 64: an entry of the event queue
   * @throws VerbsError EINVAL (the data is longer), EOVERFLOW (events were lost)
   */
  next(maxData = 64): DevxEvent | undefined {
    const syscall = 'mlx5dv_devx_get_event';
    const channel = this.use(syscall);
    const data = new Uint8Array(validate.integer(maxData, 'maxData', 0, 0xffff));
    const result = native.devxGetEvent(channel, data);
    if (result === -errno.EAGAIN) return undefined;
    const { cookie, size } = made(result, { library: this.#library(syscall), syscall });
    return { cookie, data: data.subarray(0, size) };
  }

  protected override describe(): Record<string, unknown> {
    return { fd: this.fd };
  }
}

/**
 * `mlx5dv_devx_create_event_channel`.
 *
 * @param flags {@link devx.EventChannelFlags}, default 0
 * @throws VerbsError EOPNOTSUPP, ENOMEM
 */
export function createEventChannel(ctx: Context, flags: EventChannelFlags = 0): EventChannel {
  const syscall = 'mlx5dv_devx_create_event_channel';
  const { library, handle } = forContext(ctx, syscall);
  validate.integer(flags, 'flags', 0, 0xffffffff);
  return new EventChannel(ctx, made(native.devxCreateEventChannel(library, handle, flags), { library, syscall }));
}
