import { type LibraryKind } from '@verbs/core';
import { validate } from '@verbs/core/provider';
import type { CmEventType } from '../base/enums.js';
import { kindOfOptions, libraries } from '../base/libraries.js';
import { native } from '../base/native.js';

/**
 * `rdma_event_str`: the C name of an event.
 *
 * @example eventStr(CmEventType.REJECTED); // 'RDMA_CM_EVENT_REJECTED'
 */
export function eventStr(event: CmEventType, options: { library?: LibraryKind } = {}): string {
  const kind = kindOfOptions(options);
  const { vendor } = libraries.for(kind, 'rdma_event_str');
  return native.eventStr(vendor, validate.integer(event, 'event', 0, 0xffff));
}
