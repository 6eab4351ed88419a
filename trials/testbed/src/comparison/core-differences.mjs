/** @import { Difference } from './differences.mjs' */

/**
 * Tests of @verbs/core that end otherwise over rxe of Linux 6.1 with Debian's librxe (rdma-core 44) than over our NIC, and why.
 * @type {readonly Difference[]}
 */
export const coreDifferences = [
  {
    cases: ['completion/awaited: send and recv > are rejected, not forgotten, when the completion queue overflows'],
    reason: 'rxe drops completions that find no room, tells it by an asynchronous event alone, and polls go on',
  },
  { cases: ['device/context: queries the device'], reason: 'rxe of 6.1 has no on-demand paging' },
  {
    cases: ['device/context: gives asynchronous events with their objects'],
    reason: 'rxe gives no COMM_EST event, for which the test waits',
  },
  {
    cases: [
      'device/domains: a parent domain > is used as the domain it is made of',
      'qp/address-handle-use: an address handle > serves those of a parent domain, and the other way round',
    ],
    reason: 'librxe has neither thread domains nor parent domains',
  },
  {
    cases: [
      'device/domains: import > gives a context, domains and regions a second time within the process',
      'device/domains: import > refuses a descriptor of something else',
      'lifetime/closing: leaves the descriptor of a context to it when the device is imported',
    ],
    reason: 'librxe imports nothing',
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
  {
    cases: ['memory/memory: survives a buffer that Node.js refuses to make'],
    reason: 'the guest has less memory than the buffer, and the addon says so before Node.js refuses',
  },
  {
    cases: ['memory/memory-forms: a region > is reached by the address it was registered under'],
    reason: 'rxe takes no notice of ZERO_BASED',
  },
  {
    cases: [
      'memory/memory-forms: a region > gets other rights',
      'memory/memory-forms: a region > gets other memory, and another protection domain',
      'memory/memory-forms: a region > stays a child of a protection domain that it is given again',
      'memory/memory-forms: a region > is lost, and closed, when the device could not change it',
    ],
    reason: 'rxe of 6.1 changes no region',
  },
  {
    cases: [
      'memory/memory-forms: a region > of nothing reads as zeros and swallows what is written',
      'memory/memory-forms: a region > on demand takes advice',
      'memory/memory-forms: device memory > is copied to and from, and reached by a peer',
      'memory/memory-forms: device memory > has an end',
      'memory/memory-forms: device memory > closes its regions first',
      'posting/data-path: inline data > is refused from a region without memory of the process',
    ],
    reason: 'rxe has no null regions, no on-demand paging and no device memory',
  },
  {
    cases: ['memory/memory-window: a memory window > of type 2 is opened by a request and closed by the peer'],
    reason: 'rxe reports IBV_WC_WITH_INV by the value that the kernel has for it, which is 4 and not 8',
  },
  {
    cases: ['qp/shared-receive-queue: a shared receive queue > has a size and a limit, and both can change'],
    reason: 'rxe answers the size of its ring, which is larger than what was asked for',
  },
  {
    cases: [
      'qp/shared-receive-queue: a shared receive queue > raises an event when a queue pair in error takes no more requests',
    ],
    reason: 'rxe gives no QP_LAST_WQE_REACHED event',
  },
  {
    cases: [
      'qp/shared-receive-queue: XRC > sends to one of the shared queues of the peer',
      'qp/shared-receive-queue: XRC > shares a domain that a file names',
    ],
    reason: 'rxe has no XRC',
  },
  {
    cases: ['lifetime/threads: is refused to clone an object, or to send it to another thread'],
    reason: 'rxe has no device memory, thread domains and XRC domains, of which the test makes some',
  },
  {
    cases: [
      'posting/batch: a batch of completions > has every field, and more on demand',
      'posting/data-path: RC > carries immediate data as the number that it is',
    ],
    reason: 'rxe sets IBV_WC_GRH in completions of RC, too',
  },
  {
    cases: ['posting/batch: a batch of sends > names the shared receive queue of an XRC peer'],
    reason: 'rxe has no XRC',
  },
  {
    cases: ['posting/data-path: refusals > says when a queue is full, and takes more after completions'],
    reason: 'rxe does not flush a receive request that is posted in the error state',
    sometimes: true,
  },
  {
    cases: ['qp/address-handle: EINVAL says which part of the address is wrong'],
    reason: 'the kernel answers ENODATA for a GID that there is not',
  },
  { cases: ['qp/address-handle: leads somewhere'], reason: 'rxe asks for no route when an address handle is made' },
  {
    cases: ['qp/endpoint: endpoints > take the smaller MTU, and as many reads as the peer serves'],
    reason: 'rxe rounds max_rd_atomic up to a power of two',
  },
  {
    cases: [
      'posting/extended: the extended post calls > name the request without a builder, and take ATOMIC_WRITE from the memory of the region',
    ],
    reason: 'rxe of 6.1 has no ATOMIC_WRITE',
  },
  {
    cases: ['posting/extended: the extended post calls > build every operation'],
    reason: 'ibv_wr_set_inline_data_list of librxe sends zeros',
  },
  {
    cases: [
      'posting/extended: a flush > follows a write, and says when that has arrived',
      'posting/extended: a flush > goes in a batch',
      'posting/extended: a flush > needs the right of the region and of the queue pair',
      'posting/extended: a flush > is refused by a queue pair that was not created for it, and with wrong fields',
    ],
    reason: 'rdma-core 44 has no FLUSH',
  },
  {
    cases: [
      'posting/extended: an extended completion queue > gives the time of a completion',
      'posting/extended: an extended completion queue > has timestamps of the clock that can be asked',
      'posting/extended: an extended completion queue > takes flags and refuses fields that the device does not have',
    ],
    reason: 'extended completion queues of librxe have neither timestamps nor flags',
  },
];
