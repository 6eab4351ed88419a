import type { Comparison, Extent } from './comparison.js';
import { bandwidthComparisons } from './suites/bandwidth.js';
import { commComparisons } from './suites/comm.js';
import { connectionComparisons } from './suites/connections.js';
import { doorbellComparison } from './suites/doorbell.js';
import { latencyComparisons } from './suites/latency.js';
import { lossComparison } from './suites/loss.js';
import { passiveComparisons } from './suites/passive.js';
import { queuePairComparisons } from './suites/queue-pairs.js';
import { rateComparisons } from './suites/rates.js';
import { reformatComparisons } from './suites/reformat.js';
import { sharingComparisons } from './suites/sharing.js';
import { socketComparisons } from './suites/sockets.js';
import { speedComparisons } from './suites/speeds.js';

/** All comparisons, in the order of the report. */
export function comparisons(extent: Extent): Comparison[] {
  return [
    ...latencyComparisons(extent),
    ...rateComparisons(extent),
    ...bandwidthComparisons(extent),
    lossComparison(extent),
    ...queuePairComparisons(extent),
    ...sharingComparisons(extent),
    ...passiveComparisons(extent),
    ...connectionComparisons(extent),
    ...speedComparisons(extent),
    ...socketComparisons(extent),
    ...commComparisons(extent),
    doorbellComparison(extent),
    ...reformatComparisons(extent),
  ];
}
