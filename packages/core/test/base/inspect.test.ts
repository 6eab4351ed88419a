import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import * as core from '../../src/index.js';
import { bench, createQp, pair, take } from '../helpers/devices.js';

const { QpState, QpType, SendFlags, WcExFlags, WrOpcode } = core;

/** In one line, with what differs from run to run replaced. */
const formatted = (value: unknown) =>
  inspect(value, { breakLength: Infinity, compact: 100, depth: 3 })
    .replaceAll(/#\d+/g, '#N')
    .replaceAll(/\b(addr|lkey|rkey): 0x[0-9a-f]+/g, '$1: 0xN')
    .replaceAll(/\bfd: \d+/g, 'fd: N')
    .replaceAll(/\b(guid|nodeGuid|sysImageGuid): '[0-9a-f:]{19}'/g, "$1: 'G'")
    .replaceAll(/::ffff:127\.\d+\.\d+\.\d+/g, 'GID')
    .replaceAll(/\b(qpNum|destQpNum): 0x[0-9a-f]{6}\b/g, '$1: 0x0000XX');

describe('inspect shows', () => {
  it('each object with its number, its values as they are written in this field, and its parents in short', () => {
    const { ctx, pd, channel, cq, mr } = bench();
    const context = 'context: [Context #N]';
    expect(formatted(ctx)).toBe("Context #N { name: 'soft0', guid: 'G', library: 'soft' }");
    expect(formatted(pd)).toBe(`ProtectionDomain #N { ${context} }`);
    expect(formatted(channel)).toBe(`CompletionChannel #N { fd: N, ${context} }`);
    expect(formatted(cq)).toBe(`CompletionQueue #N { cqe: 256, channel: [CompletionChannel #N], ${context} }`);
    const extended = ctx.createCq(4, { channel: null, wcFlags: WcExFlags.BYTE_LEN | WcExFlags.QP_NUM });
    expect(formatted(extended)).toBe(`CompletionQueue #N { cqe: 4, wcFlags: BYTE_LEN|QP_NUM, ${context} }`);
    const rights = 'LOCAL_WRITE|REMOTE_WRITE|REMOTE_READ|REMOTE_ATOMIC';
    expect(formatted(mr)).toBe(
      `MemoryRegion #N { addr: 0xN, length: 65536, access: ${rights}, lkey: 0xN, rkey: 0xN, pd: [ProtectionDomain #N] }`,
    );
    const srq = pd.createSrq({ maxWr: 8 });
    expect(formatted(srq)).toBe(
      'SharedReceiveQueue #N { srqType: BASIC (0), maxWr: 8, maxSge: 1, pd: [ProtectionDomain #N] }',
    );
    const [qp] = pair({ ctx, pd, cq });
    const cap = 'cap: { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 4, maxRecvSge: 4, maxInlineData: 64 }';
    const parts = 'pd: [ProtectionDomain #N], sendCq: [CompletionQueue #N], recvCq: [CompletionQueue #N]';
    expect(formatted(qp)).toBe(
      `QueuePair #N { qpType: RC (2), qpNum: 0x0000XX, knownState: RESET > INIT > RTR > [RTS], ${cap}, ${parts} }`,
    );
    qp.modify({ qpState: QpState.ERR });
    expect(formatted(qp)).toContain('knownState: RESET > INIT > RTR > RTS, [ERR]');
    qp.modify({ qpState: QpState.RESET });
    expect(formatted(qp)).toContain('knownState: [RESET] > INIT > RTR > RTS');
    qp.init();
    expect(formatted(qp)).toContain('knownState: RESET > [INIT] > RTR > RTS');
    const grh = { dgid: ctx.defaultGid().gid };
    expect(formatted(pd.createAh({ portNum: 1, grh }))).toBe(
      "AddressHandle #N { portNum: 1, dgid: 'GID', sgidIndex: 0, pd: [ProtectionDomain #N] }",
    );
    const mw = pd.allocMw(core.MwType.TYPE_2);
    expect(formatted(mw)).toBe('MemoryWindow #N { mwType: TYPE_2 (2), rkey: 0xN, pd: [ProtectionDomain #N] }');
    expect(formatted(ctx.allocTd())).toBe(`ThreadDomain #N { ${context} }`);
    expect(formatted(ctx.openXrcd())).toBe(`XrcDomain #N { ${context} }`);
    expect(formatted(ctx.allocDm(64))).toMatch(
      /^DeviceMemory #N \{ length: 64, dmHandle: \d+, context: \[Context #N\] \}$/,
    );
    mw.close();
    expect(formatted(mw)).toBe('MemoryWindow #N (closed) { mwType: TYPE_2 (2), pd: [ProtectionDomain #N] }');
    ctx.close();
    expect(formatted(channel)).toBe('CompletionChannel #N (closed) { context: [Context #N (closed)] }');
    expect(formatted(qp)).toMatch(/^QueuePair #N \(closed\) \{ .* pd: \[ProtectionDomain #N \(closed\)\]/);
    expect(inspect({ list: [qp] }, { depth: 0 })).toContain('[Array]');
    expect(formatted({ deep: { in: { an: { object: qp } } } })).toContain('[QueuePair #N (closed)]');
  });

  it('completions by what means something', async () => {
    const b = bench();
    const [one, two] = pair(b);
    two.postRecv({ wrId: 1n, sgList: [{ mr: b.mr, length: 64 }] });
    one.postSend({
      ...{ opcode: WrOpcode.SEND_WITH_IMM, immData: 0xbeef, wrId: 2, sendFlags: SendFlags.SIGNALED },
      sgList: [{ mr: b.mr, offset: 64, length: 8 }],
    });
    const both = await take(b.cq, 2);
    const [received, sent] = both.sort((x, y) => Number(x.wrId) - Number(y.wrId)).map(formatted);
    expect(received).toBe(
      'WorkCompletion { wrId: 1n, status: SUCCESS (0), opcode: RECV (128), byteLen: 8, qpNum: 0x0000XX, ' +
        'wcFlags: WITH_IMM, immData: 0x0000beef }',
    );
    expect(sent).toMatch(
      /^WorkCompletion \{ wrId: 2, status: SUCCESS \(0\), opcode: SEND \(0\), byteLen: \d+, qpNum: 0x/,
    );
    one.modify({ qpState: QpState.ERR });
    const error: unknown = await one.recv({ wrId: 3 }).catch((reason: unknown) => reason);
    expect((error as core.CompletionError).code).toBe('WC_WR_FLUSH_ERR');
    const failed = 'WorkCompletion { wrId: 3, status: WR_FLUSH_ERR (5), qpNum: 0x0000XX, vendorErr: 0x0 }';
    expect(formatted((error as core.CompletionError).wc)).toBe(failed);
    expect(formatted(error)).toMatch(/^CompletionError: WC_WR_FLUSH_ERR: /);
    for (const part of ["code: 'WC_WR_FLUSH_ERR'", 'errno: -5', "syscall: 'ibv_poll_cq'", failed]) {
      expect(formatted(error)).toContain(part);
    }
  });

  it('what queries give, with enumerations, masks and sizes by their names', () => {
    const b = bench();
    const [device] = core.listDevices({ library: 'soft' });
    expect(formatted(device)).toMatch(/^\{ name: 'soft0', guid: 'G', nodeType: CA \(1\), transportType: IB \(0\), /);
    const port = b.ctx.queryPort(1);
    const seen = formatted(port);
    for (const part of ['state: ACTIVE (4)', 'maxMtu: 4096 (5)', 'linkLayer: ETHERNET (2)', 'flags: GRH_REQUIRED']) {
      expect(seen).toContain(part);
    }
    // It is plain data all the same.
    expect({ ...port }).toEqual(port);
    expect(structuredClone(port)).toEqual(port);
    expect(Object.keys(port)).toContain('activeMtu');
    expect(formatted(b.ctx.queryDevice())).toMatch(/nodeGuid: 'G', .*vendorId: 0x.*atomicCap: \w+ \(\d\)/);
    expect(formatted(b.ctx.gidTable(1)[0])).toMatch(/^\{ index: 0, portNum: 1, gid: 'GID', type: ROCE_V2 \(2\), /);
    const [qp] = pair(b);
    const state = formatted(qp.query().attr);
    for (const part of ['qpState: RTS (3)', 'pathMtu: 1024 (3)', 'destQpNum: 0x0000XX', 'qpAccessFlags: LOCAL_WRITE']) {
      expect(state).toContain(part);
    }
    expect(formatted([{ port }])).toContain('state: ACTIVE (4)');
    expect(inspect({ a: { port } }, { depth: 0 })).not.toContain('ACTIVE');
  });

  it('listeners of events, and errors with their fields', () => {
    const { ctx } = bench();
    ctx.events.on('PORT_ERR', () => undefined).on('event', () => undefined);
    expect(formatted(ctx.events)).toBe('DeviceEventEmitter { PORT_ERR: 1, event: 1 }');
    ctx.events.removeAllListeners();
    let error: unknown;
    try {
      ctx.queryPort(9);
    } catch (thrown) {
      error = thrown;
    }
    expect(formatted(error)).toMatch(/^VerbsError: EINVAL: /);
    for (const part of ["code: 'EINVAL'", 'errno: -22', "syscall: 'ibv_query_port'"]) {
      expect(formatted(error)).toContain(part);
    }
  });

  it('colours where it is asked to', () => {
    const { pd } = bench();
    expect(inspect(pd.createSrq({ maxWr: 1 }), { colors: true })).toContain('\u001b[36mBASIC (0)\u001b[39m');
  });
});

it('inspect never throws, whatever stands in the place of an object', () => {
  const b = bench();
  const qp = createQp(b, QpType.UD);
  const wc = Object.create(core.WorkCompletion.prototype) as core.WorkCompletion;
  const port = Object.assign(b.ctx.queryPort(1), { portCapFlags: null });
  const objects: object[] = [qp, b.mr, b.cq, b.ctx, new core.CompletionBatch(2), new core.SendBatch(2), wc, port];
  const classes = Object.values(core).filter((value) => typeof value === 'function');
  for (const each of [...objects, ...classes.map((made) => made.prototype as object | undefined)]) {
    if (each === undefined) continue;
    for (const it of [each, new Proxy(each, {}), Object.create(each) as object, { [Symbol.iterator]: each }]) {
      expect(inspect(it)).toBeTypeOf('string');
      expect(inspect(it, { showProxy: true, showHidden: true, colors: true, depth: null })).toBeTypeOf('string');
    }
  }
  const trapped = new Proxy(qp, {
    get: () => {
      throw new Error('a trap');
    },
  });
  expect(inspect(trapped)).toBeTypeOf('string');
});
