import { limits } from './limits.mjs';
import { memory } from './memory.mjs';
import { network } from './network.mjs';
import { processes } from './processes.mjs';

/** Everything that can happen. */
export const disturbances = [...processes, ...memory, ...network, ...limits];
