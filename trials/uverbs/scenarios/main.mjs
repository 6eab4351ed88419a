// One scenario in a process of its own: node main.mjs NAME
import { openDevice } from '@verbs/core';
import { deviceScenarios } from './device.mjs';
import { extendedScenarios } from './extended.mjs';
import { memoryScenarios } from './memory.mjs';
import { postingScenarios } from './posting.mjs';
import { queueScenarios } from './queues.mjs';
import { removalScenarios } from './removal.mjs';
import { steeringScenarios } from './steering.mjs';

const scenarios = {
  ...deviceScenarios,
  ...memoryScenarios,
  ...queueScenarios,
  ...postingScenarios,
  ...steeringScenarios,
  ...extendedScenarios,
  ...removalScenarios,
};

const [, , name = '', device = ''] = process.argv;
const scenario = scenarios[name];
if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
const context = openDevice(device);
await scenario(context);
context.close();
