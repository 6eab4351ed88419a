import { channel } from 'node:diagnostics_channel';

/** What the channels `verbs:object:open`, `verbs:object:close` and `verbs:object:leaked` tell about an object. */
export interface ObjectMessage {
  /** The name of its class: 'QueuePair'. */
  type: string;
  /** Unique in this thread; newer objects have larger numbers. */
  id: number;
  /** Where it was made. `verbs:object:leaked` only. */
  stack?: string;
}

const opened = channel('verbs:object:open');
const closed = channel('verbs:object:close');
const leaked = channel('verbs:object:leaked');

const registry = new FinalizationRegistry<ObjectMessage>((message) => {
  leaked.publish(message);
});

/** Somebody who subscribed to the leaks is told of those objects that are made from then on. */
export function objectOpened(object: object, type: string, id: number): void {
  if (opened.hasSubscribers) opened.publish({ type, id } satisfies ObjectMessage);
  if (!leaked.hasSubscribers) return;
  const { stack = '' } = new Error(`${type} ${id} was made here`);
  registry.register(object, { type, id, stack }, object);
}

export function objectClosed(object: object, type: string, id: number): void {
  registry.unregister(object);
  if (closed.hasSubscribers) closed.publish({ type, id } satisfies ObjectMessage);
}
