import { afterEach, describe, expect, it } from 'vitest';
import { phases, type Plan, sweep } from '../src/perf/plan.js';
import { histogram, latency, Progress } from '../src/perf/statistics.js';
import { Verbs, verbs } from './verbs.js';

const running: Verbs[] = [];

afterEach(async () => {
  for (const each of running.splice(0)) {
    each.kill('SIGKILL');
    await each.outcome();
  }
});

async function server(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<{ server: Verbs; port: string }> {
  const started = new Verbs(['perf', ...args, '-p', '0'], env);
  running.push(started);
  return { server: started, port: (await started.until(/port (\d+)/))[1] ?? '' };
}

interface Document {
  kind: string;
  transport: string;
  results: Record<string, number>[];
}

async function run(what: [kind: string, operation: string], args: readonly string[]): Promise<Document> {
  const { server: serving, port } = await server(what);
  const { status, stdout, stderr } = await verbs(['perf', ...what, '127.0.0.1', '-p', port, '--json', ...args]);
  expect(stderr.replace(/\d+ of \d+ messages were lost\n|measuring \d+ bytes\n/g, '')).toBe('');
  expect(status).toBe(0);
  const served = await serving.outcome();
  expect(served.stderr).toMatch(/^served /m);
  expect(served.status).toBe(0);
  return JSON.parse(stdout) as Document;
}

describe('verbs perf', () => {
  it.each([
    ['send', []],
    ['write', ['-s', '5000']],
    ['read', ['-s', '64']],
    ['atomic', []],
    ['atomic', ['-A', 'cmp-and-swap']],
    ['send', ['-c', 'UC']],
    ['write', ['-c', 'UC', '-s', '1']],
    ['send', ['-c', 'UD', '-s', '256']],
  ])('measures the latency of %s %j', async (operation, args) => {
    const { results } = await run(['lat', operation], ['-n', '50', '--timeout', '60', ...args]);
    expect(results).toHaveLength(1);
    const { iterations, tMinUsec = 0, tTypicalUsec = 0, p99Usec = 0, p999Usec = 0, tMaxUsec = 0 } = results[0] ?? {};
    expect(iterations).toBe(50);
    expect(tMinUsec).toBeGreaterThan(0);
    const times = [tMinUsec, tTypicalUsec, p99Usec, p999Usec, tMaxUsec];
    expect(times.toSorted((a, b) => a - b)).toEqual(times);
  });

  it.each([
    ['send', []],
    ['send', ['-s', '8', '-t', '7', '-l', '3']],
    ['write', ['-c', 'UC']],
    ['read', ['-s', '10000']],
    ['atomic', ['-t', '16']],
    ['send', ['-c', 'UD']],
    ['write', ['-b']],
    ['read', ['-b', '-s', '10000']],
    ['atomic', ['-b']],
  ])('measures the bandwidth of %s %j', async (operation, args) => {
    const { results, transport } = await run(['bw', operation], ['-n', '500', '--timeout', '60', ...args]);
    const { iterations, bwPeakMiBps = 0, bwAverageMiBps = 0, msgRateMpps, received } = results[0] ?? {};
    expect(iterations).toBe(500);
    expect(msgRateMpps).toBeGreaterThan(0);
    expect(bwPeakMiBps).toBeGreaterThanOrEqual(bwAverageMiBps);
    if (operation !== 'send') expect(received).toBeUndefined();
    else if (transport === 'RC') expect(received).toBe(500);
    else expect(received).toBeLessThanOrEqual(500);
  });

  it('measures a latency on a device with short queues, whatever the messages in flight of a bandwidth are', async () => {
    const env = { VERBS_SOFT: 'soft0,max_qp_wr=64' };
    const { server: serving, port } = await server(['lat', 'send'], env);
    const { status, stderr } = await verbs(['perf', 'lat', 'send', '127.0.0.1', '-p', port, '-n', '20'], env);
    expect(status, stderr).toBe(0);
    expect((await serving.outcome()).status).toBe(0);
  });

  it('prints the columns of perftest, size for size, and how the times are spread', async () => {
    const { port } = await server(['lat', 'send']);
    const args = [
      'perf',
      'lat',
      'send',
      '127.0.0.1',
      '-p',
      port,
      '-c',
      'UD',
      '-a',
      '-n',
      '20',
      '-H',
      '--timeout',
      '60',
    ];
    const { status, stdout, stderr } = await verbs(args);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^UD send, soft0 to ::ffff:127\.\S+ QPN 0x[0-9a-f]+, MTU 4096\n +#bytes #iterations +t_min\[usec\]/,
    );
    const rows = [...stdout.matchAll(/^ +(\d+) +20( +[\d.]+){7}$/gm)].map(([, bytes]) => Number(bytes));
    expect(rows).toEqual(sweep(4096));
    expect(stdout).toMatch(/^ +[\d.]+ … +[\d.]+ usec +\d+ #+$/m);
    expect(stderr).toBe(
      sweep(4096)
        .map((bytes) => `measuring ${bytes} bytes\n`)
        .join(''),
    );
  });

  it('tells both ends when they are about different things', async () => {
    const { server: serving, port } = await server(['lat', 'send']);
    const { status, stderr } = await verbs(['perf', 'bw', 'write', '127.0.0.1', '-p', port]);
    expect(stderr).toContain('the server refuses: "verbs perf lat send" runs here, not bw write');
    expect(status).toBe(1);
    const served = await serving.outcome();
    expect(served.stderr).toContain('runs here, not bw write');
    expect(served.status).toBe(1);
  });

  it('says that the other end died, and what there was before', async () => {
    const { server: serving, port } = await server(['bw', 'write']);
    const client = new Verbs(['perf', 'bw', 'write', '127.0.0.1', '-p', port, '-a', '-n', '20000', '--json']);
    running.push(client);
    await client.until(/measuring 4 bytes/);
    serving.kill('SIGKILL');
    const { status, stdout, stderr } = await client.outcome();
    expect((JSON.parse(stdout) as Document).results[0]).toMatchObject({ bytes: 2, iterations: 20_000 });
    expect(stderr).toMatch(/gone away|does the other end still run|closed its connection/);
    expect(status).toBe(1);
  });

  it('ends with the client that leaves', async () => {
    const { server: serving, port } = await server(['lat', 'read']);
    const client = new Verbs(['perf', 'lat', 'read', '127.0.0.1', '-p', port, '-a', '-n', '1000000']);
    running.push(client);
    await client.until(/measuring 2 bytes/);
    client.kill('SIGKILL');
    const { status, stderr } = await serving.outcome();
    expect(stderr).toContain('the peer has closed its connection');
    expect(status).toBe(1);
  });

  it('stops at Ctrl-C', async () => {
    const { server: serving } = await server(['lat', 'read']);
    serving.kill('SIGINT');
    const { status, stderr } = await serving.outcome();
    expect(stderr).toContain('stopped by SIGINT');
    expect(status).toBe(1);
  });
});

describe('the figures', () => {
  it('are those of the times', () => {
    const result = latency(Float64Array.from([9, 2, 4, 4, 4, 5, 5, 7]));
    expect(result).toMatchObject({ min: 2, max: 9, typical: 4.5, avg: 5, p99: 9, p999: 9 });
    // Of a sample: n - 1.
    expect(result.stdev).toBeCloseTo(Math.sqrt(32 / 7), 12);
    expect(latency(Float64Array.from([3]))).toMatchObject({ min: 3, typical: 3, stdev: 0, p99: 3 });
    const thousand = latency(Float64Array.from({ length: 1000 }, (_, i) => 1000 - i));
    expect(thousand).toMatchObject({ typical: 500.5, p99: 990, p999: 999 });
    // Differences that the squares of the times would swallow.
    expect(latency(Float64Array.from([1e9, 1e9 + 1, 1e9 + 2])).stdev).toBeCloseTo(1, 9);
  });

  it('put every time into its range', () => {
    const buckets = histogram(Float64Array.from([1, 1.2, 1.5, 4, 0]));
    expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(5);
    expect(buckets.find(({ from }) => from === 1)).toMatchObject({ count: 2 });
    expect(buckets.at(-1)).toMatchObject({ from: 4, count: 1 });
  });

  it('have a peak that is that of the fastest stretch', () => {
    const progress = new Progress(10);
    // 100 messages in 10 ms, 100 in 1 ms, 100 in 10 ms.
    for (const [time, count] of [
      [0, 0],
      [10, 100],
      [10.5, 150],
      [11, 200],
      [21, 300],
    ] as const)
      progress.add(time, count);
    const { average, peak } = progress.rates(100);
    expect(average).toBeCloseTo(300 / 0.021, 6);
    expect(peak).toBeCloseTo(100_000, 6);
    expect(progress.rates(1000).peak).toBe(average);
  });

  it('plan a phase to warm up before each', () => {
    const plan = { kind: 'bw', sizes: [2, 4], iterations: 7 } as unknown as Plan;
    expect(phases(plan).map(({ bytes, count, measured }) => [bytes, count, measured])).toEqual([
      [2, 5000, false],
      [2, 7, true],
      [4, 10, false],
      [4, 7, true],
    ]);
  });
});
