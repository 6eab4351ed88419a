import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { inspect } from 'node:util';
import type { DiagnosticsMessages } from '@verbs/core';
import { expect, it, onTestFinished } from 'vitest';
import { createEncap, EncapType } from '../src/index.js';
import { connect, end, ready } from './helpers/devices.js';

function listen<Name extends keyof DiagnosticsMessages>(name: Name): DiagnosticsMessages[Name][] {
  const heard: DiagnosticsMessages[Name][] = [];
  const take = (message: unknown) => heard.push(message as DiagnosticsMessages[Name]);
  subscribe(name, take);
  onTestFinished(() => {
    unsubscribe(name, take);
  });
  return heard;
}

it('its objects, libraries and changes of state come through the diagnostics channels, and show what they are', () => {
  const [opened, states, loads] = [listen('verbs:object:open'), listen('verbs:qp:state'), listen('verbs:library:load')];
  const ctx = ready();
  expect(loads.map(({ library, kind }) => `${library} ${kind}`)).toContain('libhbl soft');
  const [a, b] = [end(ctx), end(ctx)];
  connect(a, b);
  const steps = states.filter(({ qp }) => qp === a.qp).map(({ from, to, cause }) => `${from} ${to} ${cause}`);
  expect(steps).toEqual(['RESET INIT modify', 'INIT RTR modify', 'RTR RTS modify']);
  const encap = createEncap(ctx, { portNum: 1, encapType: EncapType.NO_ENC });
  expect(opened.at(-1)?.type).toBe('Encap');
  expect(inspect(encap)).toMatch(/^Encap #\d+ \{ portNum: 1, encapNum: \d+, context: \[Context #\d+\] \}$/);
  ctx.close();
  expect(inspect(encap)).toMatch(/^Encap #\d+ \(closed\) \{ portNum: 1/);
});
