import type { Context } from '@verbs/core';
import { handleOf, Resource, validate } from '@verbs/core/provider';
import { done, made } from '../base/calls.js';
import { forContext, libraryFor } from '../base/libraries.js';
import { native, type NativeHandle, type NativeLibrary } from '../native/index.js';
import { request } from './command.js';
import type { DevxObject } from './object.js';

const EAGAIN = 11;

/** The answer of an asynchronous command. */
export interface AsyncAnswer {
  /** What {@link CommandCompletions.queryObj} was given. */
  wrId: bigint;
  /** The command's answer, in the device's layout. */
  out: Uint8Array;
}

/**
 * `struct mlx5dv_devx_cmd_comp`: where the answers of asynchronous commands come. Made by
 * {@link devx.createCommandCompletions}; `close()` is `mlx5dv_devx_destroy_cmd_comp`.
 */
export class CommandCompletions extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** Readable when there is an answer. The object's own: do not close it. */
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
   * @param wrId comes back with the answer
   * @throws VerbsError EINVAL, ENOMEM (too many outstanding), EOPNOTSUPP
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
   * `mlx5dv_devx_get_async_cmd_comp`: the next answer, or undefined if none is there. Never waits.
   *
   * @param outLength bytes, as many as the largest answer has
   * @throws VerbsError ENOSPC (the answer is longer)
   */
  next(outLength: number): AsyncAnswer | undefined {
    const syscall = 'mlx5dv_devx_get_async_cmd_comp';
    const completions = this.use(syscall);
    const out = new Uint8Array(validate.integer(outLength, 'outLength', 16, 0xffff));
    const wrId = native.devxGetAsyncCmdComp(completions, out);
    if (typeof wrId === 'bigint') return { wrId, out };
    if (wrId === -EAGAIN) return undefined;
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

/** `enum mlx5dv_devx_create_event_channel_flags`. */
export const EventChannelFlags = {
  /** Events come without data. */
  OMIT_EV_DATA: 1,
} as const;

/** An event of an object, or of the device. */
export interface DevxEvent {
  /** What {@link EventChannel.subscribe} was given. */
  cookie: bigint;
  /** The entry of the event queue, in the layout of the device's manual; empty with OMIT_EV_DATA. */
  data: Uint8Array;
}

/**
 * `struct mlx5dv_devx_event_channel`: where events come. Made by {@link devx.createEventChannel}; `close()` is
 * `mlx5dv_devx_destroy_event_channel`.
 */
export class EventChannel extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** Readable when there is an event. The object's own: do not close it. */
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
   * @param cookie comes back with each event
   * @throws VerbsError EINVAL, EOPNOTSUPP
   */
  subscribe(obj: DevxObject | undefined, events: readonly number[], cookie: bigint | number = 0n): void {
    const syscall = 'mlx5dv_devx_subscribe_devx_event';
    const channel = this.use(syscall);
    const object = obj === undefined ? undefined : handleOf(obj, 'DevxObject', 'obj', syscall);
    if (!Array.isArray(events) || events.length > 0x7fff) throw validate.typeError('events', 'an array', events);
    const list = events.map((each: unknown, i) => validate.integer(each, `events[${i}]`, 0, 0xffff));
    const id = BigInt(validate.u64(cookie, 'cookie'));
    done(native.devxSubscribeDevxEvent(channel, object, list, id), { library: this.#library(syscall), syscall });
  }

  /**
   * `mlx5dv_devx_subscribe_devx_event_fd`: an event shall write to a descriptor of the caller (an eventfd) instead.
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
   * `mlx5dv_devx_get_event`: the next event, or undefined if none is there. Never waits.
   *
   * @param maxData bytes of data at most, default 64: an entry of the event queue
   * @throws VerbsError EINVAL (the data is longer), EOVERFLOW (events were lost)
   */
  next(maxData = 64): DevxEvent | undefined {
    const syscall = 'mlx5dv_devx_get_event';
    const channel = this.use(syscall);
    const data = new Uint8Array(validate.integer(maxData, 'maxData', 0, 0xffff));
    const result = native.devxGetEvent(channel, data);
    if (result === -EAGAIN) return undefined;
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
export function createEventChannel(ctx: Context, flags = 0): EventChannel {
  const syscall = 'mlx5dv_devx_create_event_channel';
  const { library, handle } = forContext(ctx, syscall);
  validate.integer(flags, 'flags', 0, 0xffffffff);
  return new EventChannel(ctx, made(native.devxCreateEventChannel(library, handle, flags), { library, syscall }));
}
