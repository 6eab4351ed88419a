import { validate } from '@verbs/core/provider';

import { loadLibrary } from './libraries.js';
import { native } from './native.js';

/**
 * Lets calls below the channel of the software BlueField fail, for tests of errors that hardware raises rarely.
 *
 * `plan` is 'KIND:NTH[:ERRNO]', several joined by '+': the nth call of that kind from now on fails, once. Kinds:
 * allocate, descriptor, open_device, query_device, register_memory, create_queue, modify_queue, destroy_queue, post_send,
 * post_receive, poll, registry. null ends the plan.
 *
 * @example
 * setFaults('create_queue:1:ENOMEM'); // the next connect fails with DOCA_ERROR_NO_MEMORY
 */
export function setFaults(plan: string | null): void {
  if (plan !== null && typeof (plan as unknown) !== 'string')
    throw validate.typeError('plan', 'a string or null', plan);
  const library = loadLibrary('soft');
  if ('reason' in library) throw new Error(library.reason);
  if (native.setFaults(library.handle, plan) !== 0)
    throw validate.valueError('plan', `"${String(plan)}" is not KIND:NTH[:ERRNO]`);
}
