/** @import { Scenario } from './scenario.mjs' */
import { dropFixture, makeFixture } from './fixture.mjs';
import { control, saw } from './scenario.mjs';

/** @type {Record<string, Scenario>} */
export const deviceScenarios = {
  'open-and-close': () => undefined,

  queries: (context) => {
    context.queryDevice();
    context.queryDeviceEx();
    context.queryPort(1);
    context.queryGid(1, 3);
    context.queryGidEx(1, 2);
    context.queryPkey(1, 0);
  },

  'port-event': async (context) => {
    control('event 10 1');
    for await (const { type, portNum } of context.asyncEvents()) {
      saw(`event ${type} of port ${portNum ?? 'none'}`);
      break;
    }
  },

  'queue-events': async (context) => {
    const fixture = makeFixture(context);
    control('event-of qp 1');
    control('event-of cq 0');
    let count = 0;
    for await (const { type, element } of context.asyncEvents()) {
      if (count++ === 0) {
        saw(`event ${type} of the queue pair: ${Number(element === fixture.qp)}`);
        continue;
      }
      saw(`event ${type} of the completion queue: ${Number(element === fixture.cq)}`);
      break;
    }
    dropFixture(fixture);
  },
};
