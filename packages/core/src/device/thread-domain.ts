import { brief } from '../base/inspection.js';
import type { NativeHandle } from '../base/native.js';
import { Resource } from '../lifetime/resource.js';
import type { Context } from '../types/objects.js';

/**
 * `ibv_td`: its objects are used by one thread only, and need no locks in the library. Created by
 * {@link Context.allocTd} and given to {@link ProtectionDomain.allocParentDomain}; `close()` is `ibv_dealloc_td`.
 */
export class ThreadDomain extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;

  /** @internal */
  constructor(context: Context, handle: NativeHandle) {
    super('ThreadDomain', handle, 'ibv_dealloc_td', [context]);
    this.context = context;
  }

  protected override describe() {
    return { context: brief(this.context) };
  }
}
