import { describe, expect, it } from 'vitest';
import { WrOpcode } from '../../src/index.js';
import { bench, pair } from '../helpers/devices.js';
import { programPath, run } from '../helpers/program.js';

describe('a request and the one that it waits for, which both fail', () => {
  it.each([
    ['length', 'WC_REM_INV_REQ_ERR'],
    ['closed', 'ERR_OUT_OF_RANGE'],
    ['aborted', 'ERR_OUT_OF_RANGE'],
    ['flushed', 'WC_REM_INV_REQ_ERR'],
    ['next', 'WC_REM_INV_REQ_ERR'],
    ['wait', 'ERR_OUT_OF_RANGE'],
    ['argument', 'WC_REM_INV_REQ_ERR'],
  ])('end no process that catches the first failure: %s', async (way, code) => {
    const { stdout, stderr, code: exit } = await run(programPath('both-fail.mjs'), { args: [way] });
    expect(stderr).toBe('');
    expect(stdout).toMatch(new RegExp(`^caught ${code}\ngoes on\n$`));
    expect(exit).toBe(0);
  });
});

describe('one signal for many requests', () => {
  it('has one listener, and no warning comes', async () => {
    const b = bench();
    const [one, two] = pair(b);
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on('warning', warned);
    let listeners = 0;
    const { signal } = new AbortController();
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    const received = Array.from({ length: 15 }, () => two.recv({ sgList: [{ mr: b.mr, length: 8 }] }, { signal }));
    const waits = Array.from({ length: 15 }, () => b.cq.wait({ signal }));
    // The waits sleep a turn later.
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(listeners).toBe(1);
    for (let i = 0; i < 15; i++) await one.send({ opcode: WrOpcode.SEND, sgList: [{ mr: b.mr, length: 8 }] });
    await Promise.all(received);
    two.postRecv({ sgList: [{ mr: b.mr, length: 8 }] });
    one.postSend({ opcode: WrOpcode.SEND, sgList: [{ mr: b.mr, length: 8 }] });
    await Promise.all(waits);
    expect(listeners).toBe(0);
    process.off('warning', warned);
    expect(warnings).toEqual([]);
  });

  it('ends them all, in their order, and one that is ended meanwhile is left alone', async () => {
    const b = bench();
    const [, two] = pair(b);
    const controller = new AbortController();
    const { signal } = controller;
    const order: number[] = [];
    const all = Array.from({ length: 12 }, (_, i) =>
      two.recv({ sgList: [{ mr: b.mr, length: 8 }] }, { signal }).catch((error: unknown) => {
        order.push(i);
        return error;
      }),
    );
    controller.abort(new Error('enough'));
    expect((await Promise.all(all)).every((error) => error === signal.reason)).toBe(true);
    expect(order).toEqual(Array.from({ length: 12 }, (_, i) => i));
  });
});
