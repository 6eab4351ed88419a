import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { configure, type FaultRule, softNic } from '../src/index.js';
import { thrown } from './thrown.js';

afterEach(() => {
  configure(null);
});

describe('softNic', () => {
  it('is the first device, or the one of that name', () => {
    configure('a;b');
    expect(softNic().name).toBe('a');
    expect(softNic('b').name).toBe('b');
    expect(thrown(() => softNic('c'))).toMatchObject({ code: 'ENODEV', syscall: 'verbs_soft_stats' });
    expect(() => softNic('a\0c')).toThrow('device: it has a NUL character');
    expect(() => softNic('a').capture('path\0c')).toThrow('path: it has a NUL character');
  });

  it('has every counter of a device that was never opened, at zero', () => {
    configure('a');
    expect(softNic('a').stats()).toMatchObject({
      sent_pkts: 0n,
      retransmitted_pkts: 0n,
      link_downed: 0n,
      link_udp_sent: 0n,
      fault_dropped: 0n,
    });
  });
});

describe('faults', () => {
  it('are set, shown and cleared', () => {
    configure('a');
    const { faults } = softNic('a');
    const rules: FaultRule[] = [
      { drop: true, opcode: 'RC SEND Only', nth: 3 },
      { delay: 20, jitter: 5, probability: 0.5, direction: 'both', qpn: 0x11, psn: [0xfffff0, 15] },
      { duplicate: 0.25, corrupt: false, opcode: ['ud', 0x11], aeth: 'nak', every: 2, count: 9 },
      { bytesPerSecond: 1_000_000, reorderDelay: 7 },
    ];
    faults.set(rules, { seed: 2n ** 64n - 1n });
    const state = faults.get();
    expect(state.seed).toBe(2n ** 64n - 1n);
    expect(state.rules.map(({ text }) => text)).toEqual([
      'drop:opcode=rc_send_only:nth=3',
      'delay=20:jitter=5:probability=0.5:direction=both:qpn=17:psn=16777200-15',
      'duplicate=0.25:opcode=ud|17:aeth=nak:every=2:count=9',
      'bytes_per_second=1000000:reorder_delay=7',
    ]);
    expect(state.rules.map(({ rule }) => rule)).toEqual([
      { drop: true, opcode: 'rc_send_only', nth: 3 },
      rules[1],
      { duplicate: 0.25, opcode: ['ud', 17], aeth: 'nak', every: 2, count: 9 },
      rules[3],
    ]);
    expect(state.rules[0]).toMatchObject({ matched: 0n, hits: 0n });
    faults.clear();
    expect(faults.get()).toEqual({ seed: 1n, rules: [] });
  });

  it('are shown when they come from the configuration', () => {
    configure('a,drop=0.5,direction=both,seed=9,fault=drop:qpn=0x12');
    expect(softNic('a').faults.get()).toMatchObject({
      seed: 9n,
      rules: [{ rule: { drop: 0.5, direction: 'both' } }, { rule: { drop: true, qpn: 18 } }],
    });
  });

  it('may be a text, and one rule needs no list', () => {
    configure('a');
    const { faults } = softNic('a');
    faults.set('drop=0.5,seed=3');
    expect(faults.get()).toMatchObject({ seed: 3n, rules: [{ rule: { drop: 0.5 } }] });
    faults.set({ truncate: true });
    expect(faults.get()).toMatchObject({ seed: 1n, rules: [{ rule: { truncate: true } }] });
  });

  it.each([
    ['ERR_OUT_OF_RANGE', { drop: 2 }],
    ['ERR_OUT_OF_RANGE', { drop: true, nth: 0 }],
    ['ERR_INVALID_ARG_TYPE', { drop: true, qpn: '17' }],
    ['ERR_INVALID_ARG_TYPE', { drop: true, opcode: null }],
    ['ERR_INVALID_ARG_VALUE', { drop: true, direction: 'out' }],
    ['ERR_INVALID_ARG_VALUE', { nth: 3 }],
  ])('gives the error the code %s, as Node does, for %j', (code, rule) => {
    configure('a');
    expect(() => {
      softNic('a').faults.set(rule as never);
    }).toThrow(expect.objectContaining({ code }));
  });

  it.each([
    [{ drop: 2 }, /^rule.drop: expected true or a probability from 0 to 1, got 2$/],
    [{ drop: true, nth: 0 }, /^rule.nth: expected a whole number from 1 to \d+, got 0$/],
    [{ drop: true, qpn: '17' }, /^rule.qpn: expected a number, got "17"$/],
    [{ drop: true, psn: [1, 2, 3] }, /^rule.psn: expected a number or \[first, last\], got \[1, 2, 3\]$/],
    [{ drop: true, psn: 2 ** 24 }, /^rule.psn: expected a whole number from 0 to 16777215, got 16777216$/],
    [{ drop: true, direction: 'out' }, /^rule.direction: expected "egress", "ingress", "both", got "out"$/],
    [{ drop: true, opcode: null }, /^rule.opcode: expected names such as "RC SEND Only" or numbers, got null$/],
    [{ delay: 1.5 }, /^rule.delay: expected a whole number from 0 to 10000000, got 1.5$/],
    [{ drop: true, colour: 1 }, /^rule.colour: there is no such field; there are drop, /],
    [{ nth: 3 }, /^rule: .* give one of drop, duplicate/],
    [[{ drop: 1 }, { probability: 0.5 }], /^rules\[1\]: /],
  ])('refuses %j by name', (rules, message) => {
    configure('a');
    expect(() => {
      softNic('a').faults.set(rules as never);
    }).toThrow(message);
  });

  it('refuses an option that there is not, and a seed beside a text', () => {
    const set = (plan: string | FaultRule, options: object) => () => {
      softNic().faults.set(plan, options);
    };
    expect(set({ drop: true }, { sead: 3 })).toThrow(/^options\.sead: there is no such field; there is seed/);
    expect(set('drop', { seed: 3 })).toThrow(/^options\.seed: .* a text has its seed in itself/);
  });

  it('refuses an opcode that there is not', () => {
    configure('a');
    const error = thrown(() => {
      softNic('a').faults.set({ drop: true, opcode: 'RC SOND Only' });
    });
    expect(error.code).toBe('EINVAL');
    expect(error.message).toMatch(/opcode=rc_sond_only is not valid/);
  });
});

describe('capture', () => {
  it('can be asked for before the device is open, and is stopped once', () => {
    const folder = mkdtempSync(join(tmpdir(), 'verbs-soft-'));
    try {
      configure('a');
      const capture = softNic('a').capture(join(folder, '%d.pcapng'), { maxBytes: 1n << 20n, snapLength: 128 });
      expect(capture.path).toMatch(/%d.pcapng$/);
      capture.stop();
      capture.stop();
      {
        using again = softNic('a').capture(join(folder, 'x'));
        expect(again.path).toMatch(/x$/);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('refuses what is wrong, by name', () => {
    configure('a');
    const nic = softNic('a');
    expect(() => nic.capture('/tmp/x', { maxBytes: -1 })).toThrow(/^options.maxBytes: expected a whole number from 0/);
    expect(() => nic.capture('/tmp/x', { snapLength: 1.5 })).toThrow(RangeError);
    expect(() => nic.capture('/tmp/x', { max: 1 } as never)).toThrow(/^options\.max: there is no such field/);
    expect(() => nic.capture(5 as never)).toThrow(/^path: expected a string/);
  });
});

describe('ports', () => {
  it('that are wrong are refused, as are calls that need an open device', () => {
    configure('a,ports=2');
    const nic = softNic('a');
    nic.setLinkDown();
    nic.setLinkUp(2);
    nic.setMtu(1024);
    expect(
      thrown(() => {
        nic.setLinkDown(3);
      }).message,
    ).toMatch(/no port 3; its ports are 1 to 2/);
    expect(() => {
      nic.setLinkDown(0);
    }).toThrow(/^port: expected a whole number from 1/);
    expect(
      thrown(() => {
        nic.setMtu(1500 as 1024);
      }).message,
    ).toMatch(/not 1500/);
    expect(thrown(() => nic.addGid('127.0.0.9'))).toMatchObject({ code: 'ENOTCONN', syscall: 'verbs_soft_add_gid' });
    expect(
      thrown(() => {
        nic.removeGid('127.0.0.9');
      }).code,
    ).toBe('ENOTCONN');
    expect(
      thrown(() => {
        nic.fail();
      }).code,
    ).toBe('ENOTCONN');
    expect(thrown(() => nic.addGid('here')).code).toBe('EINVAL');
  });
});
