// One scenario of libhbl in a process of its own: node main.mjs NAME
import { listDevices } from '@verbs/hbl';
import { deviceScenarios } from './device.mjs';
import { queueScenarios } from './queues.mjs';
import { refusalScenarios } from './refusals.mjs';
import { resourceScenarios } from './resources.mjs';

const scenarios = { ...deviceScenarios, ...resourceScenarios, ...queueScenarios, ...refusalScenarios };

const [, , name = ''] = process.argv;
const scenario = scenarios[name];
if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
const devices = listDevices();
const device = devices.find(({ library }) => library === 'system');
if (device === undefined)
  throw new Error(`the real libhbl drives no device: ${devices.reason ?? 'only the model is there'}`);
await scenario(device);
