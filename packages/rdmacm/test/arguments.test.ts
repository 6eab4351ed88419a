// Arguments are checked before any native call: by their names, and by the handles' types.
import { openDevice } from '@verbs/core';
import { describe, expect, it } from 'vitest';
import {
  CmEventType,
  CmId,
  connect,
  createEventChannel,
  eventStr,
  getaddrinfo,
  getDevices,
  IdOption,
  listen,
  lookup,
  OptionLevel,
  PortSpace,
} from '../src/index.js';
import { collectUntil } from '../../core/test/shared/collect.js';
import { keep } from './helpers/connections.js';

/** On a device, as the protection domain. */
function createQpWithout(id: CmId): unknown {
  id.bindAddr({ address: '127.0.0.1' });
  const pd = id.verbs?.allocPd();
  return id.createQp(pd as never, undefined as never);
}

const channel = () => keep(createEventChannel({ library: 'soft' }));

describe('wrong arguments', () => {
  const id = () => channel().createId();

  it.each<[string, (id: CmId) => unknown, RegExp]>([
    [
      'bindAddr',
      (it) => {
        it.bindAddr({ port: 70_000 });
      },
      /address\.port must be an integer from 0 to 65535/,
    ],
    [
      'bindAddr',
      (it) => {
        it.bindAddr({ address: 'example.org' });
      },
      /address\.address is no IP address/,
    ],
    [
      'bindAddr',
      (it) => {
        it.bindAddr({ address: 'fe80::1%nope' });
      },
      /names no network interface/,
    ],
    [
      'bindAddr',
      (it) => {
        it.bindAddr({ adress: '::' } as never);
      },
      /address\.adress is not known here/,
    ],
    [
      'resolveAddr',
      (it) => {
        it.resolveAddr(7 as never);
      },
      /address must be an object/,
    ],
    [
      'resolveAddr',
      (it) => {
        it.resolveAddr({}, { timeout: -1 });
      },
      /options\.timeout must be an integer/,
    ],
    [
      'connect',
      (it) => {
        it.connect({ privateData: new Uint8Array(256) });
      },
      /param\.privateData\.byteLength must be/,
    ],
    [
      'connect',
      (it) => {
        it.connect({ retryCount: 8 });
      },
      /param\.retryCount must be/,
    ],
    [
      'accept',
      (it) => {
        it.accept({ qpNum: 2 ** 24 });
      },
      /param\.qpNum must be/,
    ],
    [
      'reject',
      (it) => {
        it.reject(5 as never);
      },
      /data must be a Uint8Array or a string/,
    ],
    [
      'listen',
      (it) => {
        it.listen(-1);
      },
      /backlog must be/,
    ],
    [
      'setOption',
      (it) => {
        it.setOption(OptionLevel.ID, IdOption.TOS, 256);
      },
      /value must be/,
    ],
    [
      'setOption',
      (it) => {
        it.setOption(OptionLevel.ID, IdOption.TOS, 'x' as never);
      },
      /value must be a Uint8Array/,
    ],
    [
      'migrate',
      (it) => {
        it.migrate({} as never);
      },
      /channel must be a EventChannel/,
    ],
    ['createQp', (it) => it.createQp({} as never, {} as never), /pd must be a ProtectionDomain/],
    ['createQp', (it) => createQpWithout(it), /attr must be an object; received undefined/],
    ['initQpAttr', (it) => it.initQpAttr(9 as never), /qpState must be/],
  ])('%s names the argument (%#)', (_, call, message) => {
    expect(() => call(id())).toThrow(message);
  });

  it.each<[string, unknown, RegExp]>([
    ['options.qp', 5, /options\.qp must be an object; received 5/],
    ['a capacity', { cap: { maxSendWr: 4 } }, /options\.qp\.cap\.maxRecvWr must be a number/],
    ['what the function gives', () => ({ cap: 'x' }), /options\.qp\(\)\.cap must be an object/],
    ['a queue', { cq: {} }, /options\.qp\.cq must be a CompletionQueue/],
    ['a domain', { pd: {} }, /options\.qp\.pd must be a ProtectionDomain/],
    ['a receive queue', () => ({ srq: 5 }), /options\.qp\(\)\.srq must be a SharedReceiveQueue; received 5/],
  ])('connect names what is wrong in %s', async (_, qp, message) => {
    await expect(connect({ port: 9, library: 'soft', qp: qp as never })).rejects.toThrow(message);
  });

  it('functions name theirs', async () => {
    expect(() => listen({ port: -1 })).toThrow(/options\.port must be/);
    expect(() => listen({ host: 5 as never })).toThrow(/options\.host must be/);
    expect(() => listen({ host: 'localhost' })).toThrow(/options\.host must be an IP address; received 'localhost'/);
    for (const call of [createEventChannel, getDevices, (given: never) => eventStr(0, given)]) {
      expect(() => call(null as never)).toThrow(/options must be an object; received null/);
    }
    expect(() => listen({ library: 'mine' as never })).toThrow(/options\.library must be 'system' or 'soft'/);
    await expect(connect({} as never)).rejects.toThrow(/options\.port must be/);
    await expect(connect({ port: 1, privatData: 'x' } as never)).rejects.toThrow(/options\.privatData is not known/);
    await expect(connect({ port: 1, signal: {} as never })).rejects.toThrow(/options\.signal must be an AbortSignal/);
    await expect(connect({ port: 1, localAddress: 'here' })).rejects.toThrow(/options\.localAddress must be/);
    await expect(connect({ port: 1, host: '' })).rejects.toThrow(/options\.host must not be empty/);
    await expect(connect({ port: 1, prepare: 5 as never })).rejects.toThrow(/options\.prepare must be a function/);
    await expect(lookup({ port: 0 })).rejects.toThrow(/options\.port must be/);
    await expect(getaddrinfo(5 as never)).rejects.toThrow(/node must be a string/);
    expect(() => channel().createId('tcp' as never)).toThrow(/ps must be/);
    expect(() => new CmId(channel(), {} as never)).toThrow(TypeError);
  });
});

describe('channels and identifiers', () => {
  it('are closed with their parents, and then reject calls', async () => {
    const events = channel();
    const [one, two] = [events.createId(), events.createId(PortSpace.UDP)];
    expect(one.ps).toBe(PortSpace.TCP);
    expect([one.qpType, two.qpType]).toEqual([2, 4]);
    one.close();
    one.close();
    expect(events.closed).toBe(false);
    events.close();
    expect([one.closed, two.closed]).toEqual([true, true]);
    for (const call of [
      () => {
        two.bindAddr({});
      },
      () => {
        two.disconnect();
      },
      () => two.verbs,
      () => two.localAddr,
      () => events.createId(),
      () => events.fd,
      () => events.getCmEvent(),
      () => {
        two.migrate(channel());
      },
    ]) {
      expect(call).toThrow(expect.objectContaining({ code: 'ERR_VERBS_CLOSED' }));
    }
    await expect(events.next()).rejects.toMatchObject({ code: 'ERR_VERBS_CLOSED' });
  });

  it('rejects the handles of other objects', () => {
    using ctx = openDevice();
    using events = createEventChannel({ library: 'soft' });
    expect(() => events.createId().createQp(ctx as never, {} as never)).toThrow(TypeError);
    const id = events.createId();
    expect(() => {
      id.migrate(id as never);
    }).toThrow(/channel must be a EventChannel/);
  });

  it('can be collected unclosed', async () => {
    const collected = new Set<string>();
    const registry = new FinalizationRegistry<string>((name) => collected.add(name));
    (() => {
      const events = createEventChannel({ library: 'soft' });
      registry.register(events, 'channel');
      registry.register(events.createId(), 'id');
    })();
    expect(await collectUntil(() => collected.size === 2)).toBe(true);
  });
});

it('names events as the C library does', () => {
  for (const [name, value] of Object.entries(CmEventType)) {
    // The C library has no name for the program's own.
    const text = name === 'USER' ? 'UNKNOWN EVENT' : `RDMA_CM_EVENT_${name}`;
    expect(eventStr(value, { library: 'soft' })).toBe(text);
  }
});
