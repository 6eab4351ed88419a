import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { onTestFinished } from 'vitest';
import type { DiagnosticsMessages } from '../../src/index.js';

/** Hears a channel until the end of the test. */
export function hear<Name extends keyof DiagnosticsMessages>(
  name: Name,
  listener: (message: DiagnosticsMessages[Name]) => void,
): void {
  const take = (message: unknown) => {
    listener(message as DiagnosticsMessages[Name]);
  };
  subscribe(name, take);
  onTestFinished(() => void unsubscribe(name, take));
}

/** The messages of a channel from now on. */
export function listen<Name extends keyof DiagnosticsMessages>(name: Name): DiagnosticsMessages[Name][] {
  const heard: DiagnosticsMessages[Name][] = [];
  hear(name, (message) => heard.push(message));
  return heard;
}
