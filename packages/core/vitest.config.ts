import { links } from '../../vitest.links.ts';

export default links({
  moving: {
    together: [
      'test/{completion,messages,posting,qp,rendezvous,stream}/**/*.test.ts',
      'test/memory/{remote-region,shared-region}.test.ts',
    ],
    apart: [
      'test/completion/{awaited,awaited-requests}.test.ts',
      'test/messages/receiver.test.ts',
      'test/posting/batch-memory.test.ts',
      'test/rendezvous/rendezvous.test.ts',
      'test/memory/memory-window.test.ts',
      'test/lifetime/{closing,lifetimes,programs,two-processes}.test.ts',
    ],
  },
  apart: [
    'test/{device,diagnostics,library,lifetime,provider}/**/*.test.ts',
    'test/memory/{buffers,library-buffer,memory,memory-forms}.test.ts',
  ],
  beforeUdp: ['test/shared/own-address.ts'],
});
