import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import * as soft from '../src/index.js';

afterEach(() => {
  soft.configure(null);
});

/** The error that `call` throws. */
function thrown(call: () => unknown): soft.SoftError {
  try {
    call();
  } catch (error) {
    if (error instanceof soft.SoftError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('configure', () => {
  it('takes the text, or devices', () => {
    soft.configure('a;b,mtu=1024');
    expect(soft.deviceNames()).toEqual(['a', 'b']);
    soft.configure([{ name: 'c', capture: '/tmp/a,b.pcapng' }, { name: 'd' }]);
    expect(soft.deviceNames()).toEqual(['c', 'd']);
    soft.addDevices([{ name: 'e' }]);
    expect(soft.deviceNames()).toEqual(['c', 'd', 'e']);
  });

  it('goes back to the variable with null', () => {
    process.env['VERBS_SOFT'] = 'from_variable';
    try {
      soft.configure(null);
      expect(soft.deviceNames()).toEqual(['from_variable']);
    } finally {
      delete process.env['VERBS_SOFT'];
    }
    soft.configure(null);
    expect(soft.deviceNames()).toEqual(['soft0']);
  });

  it('throws a SoftError that says what is allowed', () => {
    const error = thrown(() => {
      soft.configure('a,mtu=7');
    });
    expect(error).toMatchObject({ name: 'SoftError', code: 'EINVAL', errno: -22, syscall: 'verbs_soft_configure' });
    expect(error.message).toMatch(/device a: mtu=7 .* 256, 512, 1024, 2048 or 4096/);
    expect(soft.lastError()).toMatch(/mtu=7/);
    soft.configure('a');
    expect(
      thrown(() => {
        soft.addDevices('a');
      }).code,
    ).toBe('EEXIST');
  });
});

describe('stats', () => {
  it('has every counter of a device that was never opened, at zero', () => {
    soft.configure('a');
    const counters = soft.stats('a');
    expect(counters).toMatchObject({ sent_pkts: 0n, retransmitted_pkts: 0n, link_udp_sent: 0n, fault_dropped: 0n });
    expect(soft.stats()).toEqual(counters);
    expect(thrown(() => soft.stats('b')).code).toBe('ENODEV');
  });
});

describe('faults and captures', () => {
  it('refuse what is wrong, by name', () => {
    soft.configure('a');
    soft.setFaults('a', { drop: 0.5, seed: 3n });
    soft.setFaults('a', 'delay=10');
    soft.setFaults('a', null);
    const wrong = thrown(() => {
      soft.setFaults('a', { drop: 2 });
    });
    expect(wrong.code).toBe('EINVAL');
    expect(wrong.message).toMatch(/drop=2 .* from 0 to 1/);
    expect(() => {
      soft.captureStart('a', '/tmp/x', { maxBytes: -1 });
    }).toThrow(/^options.maxBytes: expected a whole number from 0/);
    expect(() => {
      soft.captureStart('a', '/tmp/x', { snapLength: 1.5 });
    }).toThrow(RangeError);
    expect(
      thrown(() => {
        soft.captureStart('b', '/tmp/x');
      }).code,
    ).toBe('ENODEV');
  });

  it('a capture can be asked for before the device is open', () => {
    const folder = mkdtempSync(join(tmpdir(), 'verbs-soft-'));
    try {
      soft.configure('a');
      soft.captureStart('a', join(folder, '%d.pcapng'), { maxBytes: 1n << 20n, snapLength: 128 });
      soft.captureStop('a');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
