import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach } from 'vitest';
import type { DiagnosticsMessages } from '../../src/index.js';

const undo: (() => void)[] = [];

afterEach(() => {
  for (const each of undo.splice(0)) each();
});

/** Hears a channel until the end of the test. */
export function hear<Name extends keyof DiagnosticsMessages>(
  name: Name,
  listener: (message: DiagnosticsMessages[Name]) => void,
): void {
  const take = (message: unknown) => {
    listener(message as DiagnosticsMessages[Name]);
  };
  subscribe(name, take);
  undo.push(() => unsubscribe(name, take));
}

/** The messages of a channel from now on. */
export function listen<Name extends keyof DiagnosticsMessages>(name: Name): DiagnosticsMessages[Name][] {
  const heard: DiagnosticsMessages[Name][] = [];
  hear(name, (message) => heard.push(message));
  return heard;
}
