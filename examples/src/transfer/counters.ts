import type { Context } from '@verbs/core';
import { softNic } from '@verbs/soft';

export type Counters = Record<string, number>;

/** The counters of the software NIC behind a context; hardware keeps its own elsewhere (`rdma statistic`). */
export function deviceCounters(context: Context): Counters {
  if (context.device.library !== 'soft') return {};
  const counters: Counters = {};
  // Counters are 64 bits wide; a transfer stays far below the 53 that a JSON number holds.
  for (const [name, value] of Object.entries(softNic(context.device.name).stats())) counters[name] = Number(value);
  return counters;
}
