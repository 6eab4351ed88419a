import { afterEach, describe, expect, it } from 'vitest';
import * as soft from '../src/index.js';
import { thrown } from './thrown.js';

afterEach(() => {
  soft.configure(null);
});

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

  it('refuses what is neither a text nor a list, by name', () => {
    for (const call of [soft.configure, soft.addDevices]) {
      expect(() => {
        call({ name: 'a' } as never);
      }).toThrow(/^devices: expected an array of devices or their text, got an object/);
    }
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
