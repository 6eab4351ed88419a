import { links } from '../../vitest.links.ts';

export default links({
  both: [
    'test/{completion,messages,posting,qp,rendezvous,stream}/**/*.test.ts',
    'test/memory/{memory-window,remote-region,shared-region}.test.ts',
    'test/lifetime/{closing,lifetimes,programs,two-processes}.test.ts',
  ],
  beforeUdp: ['test/shared/own-address.ts'],
});
