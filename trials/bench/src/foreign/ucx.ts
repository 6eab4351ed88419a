import type { Contender } from '../comparison.js';
import { lastRow } from './pair.js';

/** A set of UCX transports. */
export interface Transports {
  name: string;
  tls: string;
  devices: string;
  /** The software NIC's configuration, for its verbs transport. */
  configuration?: string;
}

export const POSIX: Transports = { name: 'UCX posix', tls: 'posix', devices: 'lo' };
export const CMA: Transports = { name: 'UCX cma', tls: 'cma,posix', devices: 'lo' };
export const TCP: Transports = { name: 'UCX tcp', tls: 'tcp', devices: 'lo' };
export const RC: Transports = {
  name: 'UCX on our verbs',
  // It sets up its connections by datagrams.
  tls: 'rc_verbs,ud_verbs',
  devices: 'soft0:1',
  configuration: 'soft0,link=shm,mtu=4096',
};

/** `ucx_perftest`; for latencies it prints half of a round trip. */
export function ucx(
  { name, tls, devices, configuration }: Transports,
  test: string,
  size: number,
  count: number,
): Contender {
  const run = ['-t', test, '-s', String(size), '-n', String(count), '-w', String(Math.ceil(count / 10)), '-f'];
  return {
    name,
    program: 'ucx_perftest',
    args: [],
    ...(configuration !== undefined && { configuration }),
    pair: {
      package: 'ucx-utils',
      server: (port) => ['-p', String(port)],
      client: (port) => ['127.0.0.1', '-p', String(port), ...run],
      environment: {
        UCX_TLS: tls,
        UCX_NET_DEVICES: devices,
        UCX_WARN_UNUSED_ENV_VARS: 'n',
        UCX_LOG_LEVEL: 'fatal',
        // As the other contenders on the software NIC do.
        ...(configuration !== undefined && { UCX_IB_GID_INDEX: '0' }),
      },
      verbs: configuration !== undefined,
      read: (output) => {
        // iterations, microseconds (median, average, overall), MB/s of 2^20 (average, overall), messages/s (the same)
        const [, median = NaN, , , , rate = NaN, , messages] = lastRow(output, 8) ?? [];
        if (messages === undefined) return undefined;
        return { unit: 'ns', median: median * 2000, rate: (rate * 2 ** 20) / 1e6, messages };
      },
    },
  };
}
