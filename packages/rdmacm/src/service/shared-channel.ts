import type { LibraryKind } from '@verbs/core';
import { kDispatch } from '../base/symbols.js';
import { createEventChannel, type EventChannel } from '../cm/event-channel.js';

/** The channels of the functions of this folder: one for all connections of a library. */
const channels = new Map<LibraryKind, WeakRef<EventChannel>>();

/** Its identifiers hold it. */
export function sharedChannel(library: LibraryKind): EventChannel {
  const known = channels.get(library)?.deref();
  if (known?.closed === false) return known;
  const channel = createEventChannel({ library });
  channel[kDispatch]();
  channels.set(library, new WeakRef(channel));
  return channel;
}
