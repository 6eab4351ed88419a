import { enumName, EventType } from '../enums/index.js';
import type { AsyncEvent } from '../types/device.js';

const portEvents: ReadonlySet<number> = new Set([
  EventType.PORT_ACTIVE,
  EventType.PORT_ERR,
  EventType.LID_CHANGE,
  EventType.PKEY_CHANGE,
  EventType.SM_CHANGE,
  EventType.CLIENT_REREGISTER,
  EventType.GID_CHANGE,
]);

/** `elementOf` finds an object by the id that it was created with. */
export function asyncEvent(
  type: EventType,
  element: number,
  elementOf: (id: number) => object | undefined,
): AsyncEvent {
  const event: AsyncEvent = { type, name: enumName(EventType, type) };
  if (portEvents.has(type)) return { ...event, portNum: element };
  const found = element === 0 ? undefined : elementOf(element);
  return found === undefined ? event : { ...event, element: found };
}
