import { describe, expect, it } from 'vitest';
import { encodeModifyHeader, type ModifyAction, ModifyField } from '../src/index.js';

const hex = (...actions: ModifyAction[]) => Buffer.from(encodeModifyHeader(actions)).toString('hex');

describe('an entry in the device layout', () => {
  it('sets the whole of a field: length 0 is 32 bits', () => {
    expect(hex({ set: 'dmac_47_16', value: 0x01005e00 })).toBe('1004000001005e00');
    expect(hex({ set: ModifyField.DMAC_15_0, value: 0x0102 })).toBe('1005001000000102');
  });

  it('sets a part', () => {
    expect(hex({ set: 'metadata_reg_c_0', value: 5, offset: 8, length: 4 })).toBe('1051080400000005');
  });

  it('adds, also negative numbers: modulo the field', () => {
    expect(hex({ add: 'ipv4_ttl', value: -1 })).toBe('200a0008000000ff');
    expect(hex({ add: 'tcp_seq_num', value: -2 })).toBe('20590000fffffffe');
  });

  it('copies', () => {
    expect(hex({ copy: 'metadata_reg_c_0', to: 'metadata_reg_c_1' })).toBe('3051000000520000');
    expect(hex({ copy: 'metadata_reg_a', to: 'udp_dport', offset: 16, length: 16 })).toBe('30491010000c0000');
    expect(hex({ copy: 'udp_sport', to: 'metadata_reg_c_2', toOffset: 8 })).toBe('300b001000530800');
  });

  it('is one for each place of the list, also for a hole', () => {
    const holes: ModifyAction[] = [];
    holes[1] = { set: 'ip_ecn', value: 1 };
    expect(() => encodeModifyHeader(holes)).toThrow(/^actions\[0\] must be an object/);
  });

  it('has 8 bytes each', () => {
    expect(encodeModifyHeader([])).toEqual(new Uint8Array());
    expect(encodeModifyHeader(Array.from({ length: 3 }, () => ({ set: 'ip_ecn' as const, value: 1 })))).toHaveLength(
      24,
    );
  });
});

it.each([
  [{ value: 1 }, /actions\[0\] must have one of set, add and copy/],
  [{ set: 'ethertype', add: 'ethertype', value: 1 }, /one of set, add and copy/],
  [{ set: 'dmac', value: 1 }, /actions\[0\]\.set must be a field's number or name \(smac_47_16, /],
  [{ set: 'ethertype', value: 0x10000 }, /actions\[0\]\.value must be an integer from 0 to 65535/],
  [{ set: 'ip_ecn', value: 1, offset: 2 }, /actions\[0\]\.offset/],
  [{ set: 'udp_dport', value: 1, offset: 8, length: 9 }, /actions\[0\]\.length must be an integer from 1 to 8/],
  [{ add: 'ipv4_ttl', value: -129 }, /actions\[0\]\.value must be an integer from -128 to 255/],
  // The device adds to the whole field, whatever these say.
  [{ add: 'sipv4', value: 1, offset: 8 }, /actions\[0\]\.offset is not for add/],
  [{ add: 'tcp_seq_num', value: -1, length: 8 }, /actions\[0\]\.length is not for add/],
  [{ set: 'ipv4_ttl', value: -1 }, /actions\[0\]\.value/],
  [{ set: 'ipv4_ttl', value: 1, to: 'ipv4_ttl' }, /actions\[0\]\.to is for copy only/],
  [{ copy: 'ipv4_ttl', value: 1, to: 'ipv4_ttl' }, /actions\[0\]\.value is not for copy/],
  [{ copy: 'sipv4', to: 'udp_dport' }, /actions\[0\]\.length must be at most 16/],
  [{ copy: 'sipv4' }, /actions\[0\]\.to/],
  [{ set: 'ipv4_ttl', value: 1, lenght: 2 }, /actions\[0\]\.lenght is not known here/],
  [null, /actions\[0\] must be an object/],
  [undefined, /actions\[0\] must be an object/],
])('refuses %o', (entry, message) => {
  expect(() => encodeModifyHeader([entry as unknown as ModifyAction])).toThrow(message);
});
