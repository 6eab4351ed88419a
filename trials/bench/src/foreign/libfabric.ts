import type { Contender } from '../comparison.js';

/** `fi_pingpong`, which prints the average of half a round trip. */
export function libfabric(provider: string, size: number, count: number): Contender {
  const options = ['-p', provider, '-e', 'rdm', '-S', String(size), '-I', String(count)];
  return {
    name: `libfabric ${provider}`,
    program: 'fi_pingpong',
    args: [],
    pair: {
      package: 'libfabric-bin',
      server: (port) => ['-B', String(port), ...options],
      client: (port) => ['-P', String(port), ...options, '127.0.0.1'],
      read: (output) => {
        // bytes #sent #ack total time MB/sec usec/xfer Mxfers/sec; with units, as 64k and 0.66s
        const row = output.trimEnd().split('\n').at(-1)?.trim().split(/\s+/) ?? [];
        const average = Number(row[6]);
        return row.length >= 8 && Number.isFinite(average) ? { unit: 'ns', median: average * 2000 } : undefined;
      },
    },
  };
}
