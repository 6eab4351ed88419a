/** @import { Scenario } from './scenario.mjs' */
import { makeFixture } from './fixture.mjs';
import { control, errnoOf, saw } from './scenario.mjs';

/** @type {Record<string, Scenario>} */
export const removalScenarios = {
  removal: async (context) => {
    const fixture = makeFixture(context);
    control('remove');
    for await (const { type } of context.asyncEvents()) {
      saw(`event ${type}`);
      break;
    }
    saw(`a new protection domain: ${Number(errnoOf(() => context.allocPd()) === 0)}`);
    // The device is gone: what was made on it goes without an error.
    fixture.qp.close();
  },
};
