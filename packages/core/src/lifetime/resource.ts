import { inspect, type InspectOptions, types } from 'node:util';
import { packageOf } from '../base/addon.js';
import { errno } from '../base/errno.js';
import { closedError, VerbsError } from '../base/errors.js';
import type { Check } from '../base/fields.js';
import { native, type NativeHandle } from '../base/native.js';
import { markAsUncloneable } from '../base/node-features.js';
import {
  kAdopt,
  kChildren,
  kClosing,
  kCopy,
  kHandle,
  kKind,
  kRelease,
  kRequestId,
  kSerial,
  kSettle,
} from '../base/symbols.js';
import { typeError } from '../base/validate.js';
import { objectClosed, objectOpened } from '../diagnostics/channels.js';
import { unwatchForLeak } from './leak-warning.js';
import { WeakTable } from './weak-table.js';

/** Newer objects have larger numbers. */
let nextId = 1;

/** The objects without parents, from which all others are reached. */
export const roots = new WeakTable<Resource>();

/**
 * The base of every object that must be closed.
 *
 * A child pins its parents: they stay usable as long as it is reachable. A parent knows its children without pinning
 * them, and closes them before itself, newest first. Objects that are never closed are freed after their collection, in
 * the same order.
 */
export abstract class Resource implements Disposable {
  readonly #handle: NativeHandle;
  readonly #kind: string;
  readonly #syscall: string;
  #parents: readonly Resource[];
  readonly #children = new WeakTable<Resource>();
  readonly #id = nextId++;
  #closed = false;
  #settling = false;

  /** @internal `syscall` is the C function that destroys the object. */
  constructor(kind: string, handle: NativeHandle, syscall: string, parents: readonly Resource[]) {
    this.#kind = kind;
    this.#handle = handle;
    this.#syscall = syscall;
    this.#parents = parents;
    // The constructors are internal, but JavaScript can call them with the handle of another object.
    if ((handle as unknown) === undefined || !native.claim(handle, syscall)) throw illegalConstructor(kind, handle);
    if (parents.length === 0) roots.set(this.#id, this);
    this.#joinParents();
    objectOpened(this, kind, this.#id);
    markAsUncloneable(this);
  }

  /** True after `close()`, or after a parent's. */
  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Destroys the object: its children first, newest first, then itself. Closing twice does nothing.
   *
   * @throws VerbsError with the name and errno of the C library's destroy function, of the object or of a child. An object
   *   that was not destroyed stays open.
   */
  close(): void {
    if (this.#closed) return;
    this[kClosing]();
    // The addon closes the children first. It knows also the unreachable ones that are not collected yet.
    const failed = native.close(this.#handle);
    this[kSettle]();
    if (failed === undefined) return;
    const syscall = failed.syscall || this.#syscall;
    const detail = syscall === this.#syscall ? undefined : `of what the ${this.#kind} has to close first`;
    throw new VerbsError(failed.errno, syscall, { detail });
  }

  /** @internal It, or a parent of it, is about to be closed. */
  [kClosing](): void {
    if (this.#settling) return;
    this.#settling = true;
    try {
      for (const child of this.#children.values()) child[kClosing]();
    } finally {
      this.#settling = false;
    }
  }

  /**
   * @internal Follows the addon, which closed this object and its children; a failed destroy function leaves one open.
   */
  [kSettle](): void {
    // The public API cannot make an object its own ancestor, but a program can call internal methods, too.
    if (this.#closed || this.#settling) return;
    this.#settling = true;
    try {
      for (const child of this.#children.values().reverse()) child[kSettle]();
    } finally {
      this.#settling = false;
    }
    if (native.isOpen(this.#handle)) return;
    this.#closed = true;
    for (const parent of this.#parents) parent[kRelease](this.#id);
    this.#parents = [];
    roots.delete(this.#id);
    unwatchForLeak(this);
    this.onClosed();
    objectClosed(this, this.#kind, this.#id);
  }

  /** `using` closes the object at the end of its block. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** The fields of the object's `inspect` output. */
  protected abstract describe(): Record<string, unknown>;

  /** Called once when the object has been closed. */
  protected onClosed(): void {
    // Most objects have nothing further to end.
  }

  #joinParents(): void {
    const joined: Resource[] = [];
    try {
      for (const parent of this.#parents) {
        parent[kAdopt](this.#id, this);
        joined.push(parent);
      }
    } catch (error) {
      // A parent was not a real one, for example a proxy. The native object goes again.
      for (const parent of joined) parent[kRelease](this.#id);
      native.close(this.#handle);
      throw error;
    }
  }

  /** @internal One more parent, which closes the object from now on. */
  protected addParent(parent: Resource): void {
    if (this.#parents.includes(parent)) return;
    parent[kAdopt](this.#id, this);
    this.#parents = [...this.#parents, parent];
  }

  /** @internal Moves the object to another parent. */
  protected replaceParent(from: Resource, to: Resource): void {
    // With any arguments, the object keeps a parent that closes it.
    if (!this.#parents.includes(from)) throw typeError('from', 'a parent of the object', from);
    if (from === to) return;
    to[kAdopt](this.#id, this);
    from[kRelease](this.#id);
    this.#parents = this.#parents.map((parent) => (parent === from ? to : parent));
  }

  /** @internal The native handle; throws for a closed object. */
  protected use(syscall: string): NativeHandle {
    if (this.#closed) throw closedError(this.#kind, syscall);
    return this.#handle;
  }

  /** @internal */
  get [kHandle](): NativeHandle {
    return this.#handle;
  }

  /** @internal */
  get [kSerial](): number {
    return this.#id;
  }

  /** @internal The children that are reachable, oldest first. */
  get [kChildren](): Resource[] {
    return this.#children.values();
  }

  /** @internal */
  get [kCopy](): object {
    return native;
  }

  /** @internal */
  get [kKind](): string {
    return this.#kind;
  }

  /** @internal */
  [kAdopt](id: number, child: Resource): void {
    if (typeof (child as Partial<Resource>)[kSettle] !== 'function') throw typeError('child', 'a verbs object', child);
    this.#children.set(id, child);
  }

  /** @internal */
  [kRelease](id: number): void {
    this.#children.delete(id);
  }

  /** The object's state and its main attributes, for `util.inspect` and `console.log`. */
  [inspect.custom](depth: number, options: InspectOptions = {}): string {
    // A prototype or a proxy is formatted like any other object.
    if (!(#kind in this)) return inspect(this, { ...options, depth, customInspect: false });
    const name = `${this.#kind} #${this.#id}${this.#closed ? ' (closed)' : ''}`;
    return depth < 0 ? `[${name}]` : `${name} ${inspect(this.#described(), { ...options, depth: options.depth ?? 1 })}`;
  }

  /** A debugger may inspect an object whose constructor still runs. */
  #described(): Record<string, unknown> {
    try {
      return this.describe();
    } catch {
      return {};
    }
  }
}

const MAKERS: Readonly<Record<string, string>> = {
  Context: 'openDevice()',
  ProtectionDomain: 'ctx.allocPd()',
  CompletionChannel: 'ctx.createCompChannel()',
  CompletionQueue: 'ctx.createCq(cqe)',
  QueuePair: 'pd.createQp(attr)',
  MemoryRegion: 'pd.allocMr(length, access) or pd.regMr(view, access)',
  AddressHandle: 'pd.createAh(attr)',
  SharedReceiveQueue: 'pd.createSrq(attr)',
};

/** The error of a constructor that the program called itself. */
export function illegalConstructor(kind: string, handle?: unknown): TypeError {
  const maker = MAKERS[kind];
  return typeError(
    'handle',
    `that of a new ${kind}${maker === undefined ? '' : `: a ${kind} is made by ${maker}`}`,
    handle,
  );
}

/**
 * The native handle of an open object of that kind, for native calls. Throws TypeError for anything else, by the
 * argument's path.
 */
export function handleOf(value: unknown, kind: string, path: string, syscall: string): NativeHandle {
  if (typeof value !== 'object' || value === null) throw typeError(path, `a ${kind}`, value);
  const resource = value as Resource;
  // What the members of a class keep private a Proxy does not have.
  if (types.isProxy(value) && resource[kCopy] === native)
    throw typeError(path, `a ${kind} itself, and not a Proxy of one`, value);
  if (resource[kKind] !== kind) throw typeError(path, `a ${kind}`, value);
  if (resource[kCopy] !== native) throw foreignError(resource, kind, path);
  if (resource.closed) {
    throw new VerbsError(errno.EBADF, syscall, {
      code: 'ERR_VERBS_CLOSED',
      text: `the ${kind} in ${path} is closed`,
      hint: 'keep it open while it is used, or create a new one',
    });
  }
  return resource[kHandle];
}

/** An application has two copies of this package, and an object of one came to the other. */
function foreignError(object: Resource, kind: string, path: string): TypeError {
  const theirs = (object as Partial<Resource>)[kCopy];
  const folder = theirs === undefined ? 'an older version' : packageOf(theirs);
  return typeError(
    path,
    `a ${kind} of the @verbs/core in ${packageOf(native)}, and not of the copy in ${folder} ("npm ls @verbs/core" shows ` +
      'who asks for which, and "npm dedupe" makes them one if the versions allow it)',
    object,
  );
}

/** The check of a field that is an open object of that kind; gives its native handle. */
export function handle(kind: string, syscall: string): Check<NativeHandle> {
  return (value, path) => handleOf(value, kind, path, syscall);
}

/**
 * The id of a memory region or address handle in work requests; undefined for anything else, also for an object of
 * another copy of this package, which counts its own ids.
 */
export function requestId(value: unknown, kind: string): number | undefined {
  if (typeof value !== 'object' || value === null || (value as Resource)[kKind] !== kind) return undefined;
  if ((value as Resource)[kCopy] !== native) return undefined;
  return (value as { [kRequestId]?: number })[kRequestId];
}

/** The kind of an object of this package or of a provider, 'QueuePair'; undefined for anything else. */
export function kindOf(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null ? (value as Partial<Resource>)[kKind] : undefined;
}
