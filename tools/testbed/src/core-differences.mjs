/** @import { Difference } from './kernel-differences.mjs' */

/**
 * Tests of @verbs/core that end otherwise over rxe of Linux 6.1 with Debian's librxe (rdma-core 44) than over our NIC, and why.
 * @type {readonly Difference[]}
 */
export const coreDifferences = [
  { cases: ['device/context: queries the device'], reason: 'rxe of 6.1 has no on-demand paging' },
  {
    cases: ['device/context: gives asynchronous events with their objects'],
    reason: 'rxe gives no COMM_EST event, for which the test waits',
  },
  {
    cases: ['device/domains: a parent domain > is used as the domain it is made of'],
    reason: 'librxe has neither thread domains nor parent domains',
  },
  {
    cases: ['device/domains: import > gives a context, domains and regions a second time within the process'],
    reason: 'librxe imports nothing, and rxe has no device memory',
  },
  {
    cases: ['device/domains: multicast > reaches every attached queue pair'],
    reason: 'attaching makes no IP membership in rxe, so that the packets of the own device do not come back',
  },
  {
    cases: [
      'diagnostics/diagnostics-requests: tracing:verbs:request > follows awaited requests from the post to the completion',
    ],
    reason: 'rxe does not flush a waiting receive request when its queue pair goes to the error state',
    sometimes: true,
  },
];
