import { channel } from 'node:diagnostics_channel';
import type { DiagnosticsMessages, ObjectMessage } from '../types/diagnostics.js';

/** A channel and its messages. A publisher asks `hasSubscribers` first, so that it creates no needless message. */
interface TypedChannel<Message> {
  readonly hasSubscribers: boolean;
  publish(message: Message): void;
}

function named<Name extends keyof DiagnosticsMessages>(name: Name): TypedChannel<DiagnosticsMessages[Name]> {
  return channel(name);
}

export const libraryLoads = named('verbs:library:load');
export const deviceLists = named('verbs:library:devices');
export const registrations = named('verbs:mr:register');
export const deregistrations = named('verbs:mr:deregister');
export const qpStates = named('verbs:qp:state');
export const postErrors = named('verbs:post:error');
export const completionErrors = named('verbs:completion:error');
export const deviceEvents = named('verbs:device:event');

const opened = named('verbs:object:open');
const closed = named('verbs:object:close');
const leaked = named('verbs:object:leaked');

const registry = new FinalizationRegistry<ObjectMessage>((message) => {
  leaked.publish(message);
});

/** A subscriber of the leaks hears of the objects that are created after it subscribed. */
export function objectOpened(object: object, type: string, id: number): void {
  if (opened.hasSubscribers) opened.publish({ type, id });
  if (!leaked.hasSubscribers) return;
  const { stack = '' } = new Error(`${type} ${id} was made here`);
  registry.register(object, { type, id, stack }, object);
}

export function objectClosed(object: object, type: string, id: number): void {
  registry.unregister(object);
  if (closed.hasSubscribers) closed.publish({ type, id });
}
