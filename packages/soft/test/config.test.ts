import { describe, expect, it } from 'vitest';
import { configurationText, faultText } from '../src/index.js';

describe('configurationText', () => {
  it('writes every field under its key of the text', () => {
    const text = configurationText([
      {
        name: 'soft0',
        kind: 'hbl',
        model: '/lib/libhbl.so',
        addr: ['127.0.0.1', '::1'],
        ports: 2,
        mtu: 1024,
        link: 'udp',
        limits: { maxQp: 7, maxQpRdAtom: 4 },
        capture: { path: '/tmp/%p.pcapng', maxBytes: 1000, snapLength: 64 },
        faults: { drop: 0.02, direction: 'both' },
        seed: 7,
        state: 'down',
        strict: true,
        gids: 'mlx5',
        options: { profile: 'gaudi2', fast: true },
      },
      { name: 'soft1', addr: '10.0.0.1', foreign: ['10.0.0.0/24', 'fd00::7'], profile: 'rxe', capture: 'x' },
      { name: 'mlx5_soft0', kind: 'mlx5', switch: 'left', tap: 'tap0' },
    ]);
    expect(text).toBe(
      'soft0,kind=hbl,model=/lib/libhbl.so,ports=2,mtu=1024,link=udp,seed=7,state=down,gids=mlx5,addr=127.0.0.1,addr=::1,strict=1,' +
        'capture=/tmp/%p.pcapng,capture_limit=1000,snap=64,max_qp=7,max_qp_rd_atom=4,' +
        'fault=drop=0.02:direction=both,profile=gaudi2,fast=true;soft1,profile=rxe,addr=10.0.0.1,foreign=10.0.0.0/24|fd00::7,capture=x;' +
        'mlx5_soft0,kind=mlx5,switch=left,tap=tap0',
    );
  });

  it('names the field that has no list of addresses, and the rule that is none', () => {
    expect(() => configurationText([{ name: 'a', addr: 5 as never }])).toThrow('addr: expected a string or an array');
    expect(() => configurationText([{ name: 'a', foreign: {} as never }])).toThrow(
      'foreign: expected a string or an array',
    );
    expect(() => faultText(undefined as never)).toThrow('rule: expected an object, got undefined');
    expect(() => faultText([null as never])).toThrow('rules[0]: expected an object, got null');
  });

  it('escapes what the text would take for its own', () => {
    expect(configurationText([{ name: 'a', capture: '/a,b;c#d%2Ce%p' }])).toBe('a,capture=/a%2Cb%3Bc%23d%252Ce%p');
  });

  it('leaves out what is undefined, and writes large seeds in full', () => {
    expect(configurationText([{ name: 'a', capture: { path: 'p' }, seed: 2n ** 64n - 1n }])).toBe(
      'a,seed=18446744073709551615,capture=p',
    );
    expect(faultText({ drop: true }, 2 ** 60)).toBe('fault=drop,seed=1152921504606846976');
  });

  it.each([
    [{ name: '' }, 'ERR_INVALID_ARG_TYPE', /^name: every device needs a name/],
    [{ name: 'a,mtu=1024;b' }, 'ERR_INVALID_ARG_VALUE', /^name: expected up to 63 letters, digits/],
    [{ name: 'a', options: { 'p,q': 1 } }, 'ERR_INVALID_ARG_VALUE', /^p,q: this is no name of an option/],
    [{ name: 'a', mtu: null }, 'ERR_INVALID_ARG_TYPE', /^mtu: expected a string or number, got null/],
    [{ name: 'a', strict: 'yes' }, 'ERR_INVALID_ARG_TYPE', /^strict: expected true or false, got "yes"/],
    [{ name: 'a', capture: { path: 'x', max: 1 } }, 'ERR_INVALID_ARG_VALUE', /^capture\.max: there is no such field/],
    [null, 'ERR_INVALID_ARG_TYPE', /^devices\[0\]: expected an object, got null/],
    [{ name: 'a', capture: 'x\ny' }, 'ERR_INVALID_ARG_VALUE', /^capture: a value cannot hold a line end/],
  ])('refuses %j by name', (device, code, message) => {
    const call = () => configurationText([device as never]);
    expect(call).toThrow(message);
    expect(call).toThrow(expect.objectContaining({ code }));
  });
});
