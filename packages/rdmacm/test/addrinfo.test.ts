// rdma_resolve_addrinfo, rdma_query_addrinfo and rdma_write_cm_event, which librdmacm has since release 60.
import { execFileSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { QpType } from '@verbs/core';
import { AddrInfoFlags, createEventChannel, PortSpace, softModel } from '../src/index.js';
import { libraries } from '../src/base/libraries.js';
import { native } from '../src/base/native.js';
import { kExpect } from '../src/base/symbols.js';
import { keep } from './helpers/connections.js';

const channel = () => keep(createEventChannel({ library: 'soft' }));

describe('an address is resolved', () => {
  it('by name and port, to connect to', async () => {
    const id = channel().createId();
    const found = await id.resolveAddrinfo('localhost', 7471, { flags: AddrInfoFlags.FAMILY, family: 2 });
    expect(found).toEqual([
      {
        ...{ flags: AddrInfoFlags.FAMILY, family: 2, qpType: QpType.RC, portSpace: PortSpace.TCP },
        ...{ srcAddr: undefined, dstAddr: { family: 4, address: '127.0.0.1', port: 7471 } },
      },
    ]);
    // And again, on the same identifier.
    const [again] = await id.resolveAddrinfo('127.0.0.9', '7472', { flags: AddrInfoFlags.DNS });
    expect(again?.dstAddr).toEqual({ family: 4, address: '127.0.0.9', port: 7472 });
  });

  it('to listen at, and from an own address', async () => {
    const id = channel().createId(PortSpace.UDP);
    const [passive] = await id.resolveAddrinfo('127.0.0.1', 7471, {
      flags: AddrInfoFlags.PASSIVE,
      portSpace: PortSpace.UDP,
    });
    expect(passive).toMatchObject({ qpType: QpType.UD, srcAddr: { address: '127.0.0.1', port: 7471 } });
    const [from] = await id.resolveAddrinfo('127.0.0.1', 7471, { srcAddr: { address: '127.0.0.5', port: 1 } });
    expect(from).toMatchObject({ srcAddr: { address: '127.0.0.5' }, dstAddr: { address: '127.0.0.1' } });
  });

  it('while others read the channel: they get their events, and not these', async () => {
    const events = channel();
    const [one, other] = [events.createId(), events.createId()];
    const read: string[] = [];
    const reading = (async () => {
      for await (const { name } of events) read.push(name);
    })();
    const resolved = one.resolveAddrinfo('127.0.0.1', 7471);
    other.writeCmEvent({ arg: 1 });
    one.writeCmEvent({ arg: 2 });
    expect(await resolved).toHaveLength(1);
    const another = Promise.all([one.resolveAddrinfo('127.0.0.1', 1), other.resolveAddrinfo('127.0.0.1', 2)]);
    other.writeCmEvent({ arg: 3 });
    expect((await another).map(([info]) => info?.dstAddr?.port)).toEqual([1, 2]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    events.close();
    await reading;
    expect(read).toEqual(['USER', 'USER', 'USER']);
  });

  it('for several calls at a time, and behind one that was given up: each gets its own result', async () => {
    const id = channel().createId();
    const stop = new AbortController();
    const ports = [1, 2, 3, 4];
    const found = ports.map((port) =>
      id.resolveAddrinfo('127.0.0.1', port, {}, port === 2 ? { signal: stop.signal } : {}),
    );
    const given = expect(found[1]).rejects.toThrow('enough');
    await found[0];
    stop.abort(new Error('enough'));
    await given;
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
    const rest = await Promise.all([found[0], found[2], found[3]]);
    expect(rest.map((infos) => infos?.[0]?.dstAddr?.port)).toEqual([1, 3, 4]);
  });

  it('or not, with an error that says why', async () => {
    const id = channel().createId();
    await expect(id.resolveAddrinfo('no-such-host.invalid', 7471)).rejects.toMatchObject({ code: 'EAI_NONAME' });
    await expect(id.resolveAddrinfo('127.0.0.1', 'no-such-service')).rejects.toMatchObject({
      code: 'ENOENT',
      syscall: 'rdma_resolve_addrinfo',
    });
    await expect(id.resolveAddrinfo(undefined, 'service', { flags: AddrInfoFlags.SA })).rejects.toThrow(
      /^EOPNOTSUPP.*AddrInfoFlags\.SA is for InfiniBand/,
    );
    await expect(id.resolveAddrinfo(7 as never)).rejects.toThrow(/^node must be a string/);
    await expect(id.resolveAddrinfo('127.0.0.1', 70_000)).rejects.toThrow(/^service must be/);
    const aborted = AbortSignal.abort(new Error('enough'));
    await expect(id.resolveAddrinfo('127.0.0.1', 1, {}, { signal: aborted })).rejects.toThrow('enough');
    id.close();
    await expect(id.resolveAddrinfo('127.0.0.1', 1)).rejects.toMatchObject({ code: 'ERR_VERBS_CLOSED' });
  });

  it('unless the identifier or the channel is closed before its event is there', async () => {
    const events = channel();
    const wanted = new Set(['ADDRINFO_RESOLVED'] as const);
    const id = events.createId();
    const waits = [id, id].map((each) => events[kExpect](each, wanted, 'test'));
    const closed = events[kExpect](events.createId(), wanted, 'test');
    id.close();
    for (const each of waits) await expect(each).rejects.toMatchObject({ code: 'ERR_VERBS_CLOSED' });
    events.close();
    await expect(closed).rejects.toMatchObject({ code: 'ERR_VERBS_CLOSED' });
  });
});

describe("an event of the program's own", () => {
  it('comes in its turn, with its status and argument, and wakes who waits', async () => {
    const events = channel();
    const id = events.createId();
    const next = events.next();
    id.writeCmEvent({ status: -7, arg: (1n << 64n) - 1n });
    expect(await next).toMatchObject({ name: 'USER', status: -7, arg: (1n << 64n) - 1n, id });
    id.writeCmEvent();
    id.writeCmEvent({ arg: 5 });
    expect([events.getCmEvent()?.arg, events.getCmEvent()?.arg, events.getCmEvent()]).toEqual([0n, 5n, undefined]);
  });

  it('has no other arguments', () => {
    const id = channel().createId();
    expect(() => {
      id.writeCmEvent({ arg: -1 });
    }).toThrow(/^event\.arg must be/);
    expect(() => {
      id.writeCmEvent({ status: 2 ** 31 });
    }).toThrow(/^event\.status must be/);
    expect(() => {
      id.writeCmEvent({ event: 3 } as never);
    }).toThrow(/^event\.event is not known/);
  });
});

describe('with a librdmacm before release 60', () => {
  const folder = mkdtempSync(join(tmpdir(), 'verbs-rdmacm-older-'));
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('these calls are EOPNOTSUPP, and the error names the release', async () => {
    const [source, file] = [join(folder, 'older.c'), join(folder, 'librdmacm.so.1')];
    const calls = execFileSync('nm', ['-D', '--defined-only', softModel.library], { encoding: 'utf8' })
      .split('\n')
      .flatMap((line) => / T (rdma_\w+|verbs_soft_model_load)/.exec(line)?.[1] ?? [])
      .filter((name) => !/addrinfo$|write_cm_event/.test(name) || /rdma_(get|free)addrinfo/.test(name));
    const lines = calls.map((name) => `CALL(${name})`);
    writeFileSync(
      source,
      `#include <dlfcn.h>
typedef void *(*function)(void *, void *, void *, void *, void *, void *);
static function model(const char *name) {
  static void *library;
  if (!library) library = dlopen(MODEL, RTLD_NOW | RTLD_LOCAL);
  return (function)dlsym(library, name);
}
#define CALL(name) \\
  void *name(void *a, void *b, void *c, void *d, void *e, void *f) { return model(#name)(a, b, c, d, e, f); }
${lines.join('\n')}
`,
    );
    execFileSync('cc', ['-shared', '-fPIC', '-o', file, source, `-DMODEL="${softModel.library}"`]);
    libraries.for('soft', 'test');
    const { handle } = native.openLibrary(file);
    if (handle === undefined) throw new Error('it does not load');
    const made = native.createEventChannel(handle);
    if (typeof made === 'number') throw new Error(`no channel: ${made}`);
    const { EventChannel } = await import('../src/cm/event-channel.js');
    const events = keep(new EventChannel('soft', made));
    const id = events.createId();
    await expect(id.resolveAddrinfo('127.0.0.1', 1)).rejects.toThrow(/^EOPNOTSUPP.*since release 60/);
    expect(() => {
      id.writeCmEvent();
    }).toThrow(/^EOPNOTSUPP.*since release 60/);
  });
});
