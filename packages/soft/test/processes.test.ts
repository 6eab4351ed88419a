import { afterEach, describe, expect, it } from 'vitest';
import { configure, processes, softNic } from '../src/index.js';

afterEach(() => {
  configure(null);
});

describe('processes', () => {
  it('has those with an open device only', () => {
    configure('a');
    softNic('a').stats();
    expect(processes().filter(({ pid }) => pid === process.pid)).toEqual([]);
  });
});

describe('metrics', () => {
  it('is what Prometheus reads: a type and a value for each counter', () => {
    configure('a');
    const lines = softNic('a').metrics().trimEnd().split('\n');
    const counters = Object.keys(softNic('a').stats());
    expect(lines).toHaveLength(counters.length * 2);
    expect(lines).toContain('# TYPE verbs_soft_sent_pkts_total counter');
    expect(lines).toContain('verbs_soft_sent_pkts_total{device="a"} 0');
    for (const line of lines) expect(line).toMatch(/^(# TYPE [a-z_0-9]+ counter|[a-z_0-9]+\{device="a"\} \d+)$/);
  });
});
