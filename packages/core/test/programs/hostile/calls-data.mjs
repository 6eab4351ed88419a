// Good arguments for the calls of the data path, of queries, and of the functions without an object.
import { inspect } from 'node:util';
import { ahAttr } from './calls-objects.mjs';

const sges = (w) =>
  Array.from({ length: w.random.pick([0, 1, 1, 1, 2, 4]) }, () => ({
    mr: w.object('MemoryRegion'),
    ...(w.random.oneIn(2) ? { offset: w.random.below(16), length: w.random.pick([0, 1, 8, 64, 1500]) } : {}),
  }));
const id = (w) => w.random.pick([0, 1, 42n, 2 ** 40, (1n << 64n) - 1n]);
const recvWr = (w) => ({ ...(w.random.oneIn(4) ? {} : { wrId: id(w) }), sgList: sges(w) });
const bindInfo = (w) => (w.random.oneIn(4) ? {} : { mr: w.object('MemoryRegion'), offset: 0, length: 8, access: 6 });

function sendWr(w) {
  const { WrOpcode } = w.core;
  const [name, opcode] = w.random.pick(Object.entries(WrOpcode));
  const remote = w.object('MemoryRegion');
  return {
    opcode,
    wrId: id(w),
    sendFlags: w.random.pick([2, 2, 2, 0, 1, 4, 8, 10, 15]),
    sgList: /ATOMIC/.test(name) ? [{ mr: w.object('MemoryRegion'), length: 8 }] : sges(w),
    immData: w.random.next(),
    invalidateRkey: w.object('MemoryWindow')?.closed === false ? w.object('MemoryWindow').mwType : (remote?.rkey ?? 1),
    ah: w.object('AddressHandle'),
    remoteQpn: w.object('QueuePair')?.qpNum ?? 1,
    remoteQkey: w.random.pick([0x1234, 0x1234, 0, 0x80000000]),
    remoteAddr: remote?.addr ?? 0n,
    rkey: remote?.rkey ?? 0,
    compare: 0n,
    swap: 1n,
    add: 1n,
    remoteSrqn: w.object('SharedReceiveQueue')?.srqNum ?? 1,
    ...(name === 'FLUSH'
      ? { type: w.random.below(4), level: w.random.below(3), length: w.random.pick([0, 8, 4096]) }
      : {}),
    ...(name === 'BIND_MW' ? { mw: w.object('MemoryWindow'), rkey: w.random.next(), bindInfo: bindInfo(w) } : {}),
  };
}

/** One, or several. */
const some = (w, make) => (w.random.oneIn(2) ? make(w) : Array.from({ length: w.random.below(6) }, () => make(w)));

function modification(w) {
  const peer = w.object('QueuePair');
  const { QpState } = w.core;
  return w.random.pick([
    { qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 15 },
    { qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: 0x1234 },
    {
      ...{ qpState: QpState.RTR, pathMtu: 3, destQpNum: peer?.qpNum ?? 1, rqPsn: 0, ahAttr: ahAttr(w) },
      ...{ maxDestRdAtomic: 1, minRnrTimer: 12 },
    },
    { qpState: QpState.RTS, sqPsn: 0, timeout: 14, retryCnt: 7, rnrRetry: 7, maxRdAtomic: 1 },
    { qpState: w.random.below(8) },
    { qpState: QpState.SQD, enSqdAsyncNotify: 1 },
    { qpState: QpState.ERR },
    { qpState: QpState.RESET },
    { altAhAttr: ahAttr(w), altPortNum: 1, altPkeyIndex: 0, altTimeout: 14, pathMigState: w.random.below(3) },
    { cap: { maxSendWr: 4, maxRecvWr: 4 } },
    { curQpState: w.random.below(8), rateLimit: 5 },
  ]);
}

const waiting = (w) => (w.random.oneIn(2) ? [w.signal()] : []);
const port = (w) => [w.random.pick([1, 1, 1, 2, 255])];
const entry = (w) => [1, w.random.pick([0, 0, 1, 9, 65535])];
const number = (w) => [w.random.below(30)];
const library = (w) => [w.random.pick(['soft', 'system'])];
const device = (w) => w.random.pick(['soft0', 'soft1', { ...w.device }]);

const slot = (w) => w.random.below(8);
/** Mostly whole batches; sometimes a part, or too much. */
const part = (w) => w.random.pick([[], [], [slot(w)], [slot(w), 1], [0, 9]]);
const batchOf = (w, kind) => [w.object(kind), ...part(w)];

export const dataCalls = {
  'QueuePair.modify': (w) => [modification(w)],
  'QueuePair.query': (w) => w.random.pick([[], [1], [0x1fffff]]),
  'QueuePair.connect': (w) => [
    {
      remote: { qpNum: w.object('QueuePair')?.qpNum ?? 1, gid: w.gid, psn: 0 },
      access: 15,
      ...(w.random.oneIn(3) ? { timeout: 8, retryCnt: 1, rnrRetry: 1 } : {}),
    },
  ],
  'QueuePair.endpoint': (w) => w.random.pick([[], [{ portNum: 1, sgidIndex: 0 }], [{ portNum: 2 }]]),
  'QueuePair.init': (w) => w.random.pick([[], [{ access: 15 }], [{ qkey: 0x1234, portNum: 1 }]]),
  'MemoryRegion.remote': () => [],
  'Context.defaultGid': (w) => w.random.pick([[], port(w)]),
  'QueuePair.activate': () => [{ qkey: 0x1234, portNum: 1 }],
  'QueuePair.bindMw': (w) => [w.object('MemoryWindow'), { wrId: 1, sendFlags: 2, bindInfo: bindInfo(w) }],
  'QueuePair.attachMcast': () => ['ff0e::ffff:224.1.2.3', 0],
  'QueuePair.detachMcast': () => ['ff0e::ffff:224.1.2.3', 0],
  'QueuePair.modifyRateLimit': () => [{ rateLimit: 1, maxBurstSz: 1, typicalPktSz: 1 }],
  'QueuePair.queryEce': () => [],
  'QueuePair.setEce': () => [{ vendorId: 1, options: 1 }],
  'QueuePair.queryDataInOrder': (w) => [w.random.below(10), w.random.below(2)],
  'QueuePair.postSend': (w) => [some(w, sendWr)],
  'QueuePair.postRecv': (w) => [some(w, recvWr)],
  'SharedReceiveQueue.postRecv': (w) => [some(w, recvWr)],
  'SharedReceiveQueue.modify': (w) => [w.random.pick([{ srqLimit: 1 }, { maxWr: 8 }, { srqLimit: 2, maxWr: 16 }])],
  'SharedReceiveQueue.query': () => [],
  'SharedReceiveQueue.addTag': (w) => [
    { ...recvWr(w), tag: w.random.below(4), mask: w.random.pick([0, 3n]), signaled: w.random.oneIn(2) },
  ],
  'SharedReceiveQueue.deleteTag': (w) => [w.random.below(4), w.random.pick([{}, { wrId: 5n, unexpectedCnt: 0 }])],
  'SharedReceiveQueue.syncTags': (w) => [w.random.below(3), w.random.pick([{}, { wrId: 6 }])],
  encodeTmh: (w) => [
    { opcode: w.random.below(4), tag: w.random.below(4), rvh: { va: 0n, rkey: 1, len: w.random.below(64) } },
  ],
  decodeTmh: (w) => [w.random.pick([new Uint8Array(32), new Uint8Array(1)])],
  'ReceiveWorkQueue.postRecv': (w) => [some(w, recvWr)],
  'ReceiveWorkQueue.modify': (w) => [
    w.random.pick([{ wqState: w.random.below(4) }, { wqState: 1, currWqState: 0 }, { flags: 0, flagsMask: 1 }]),
  ],

  'QueuePair.send': (w) => [sendWr(w), ...waiting(w)],
  'QueuePair.recv': (w) => [recvWr(w), ...waiting(w)],
  receiver: (w) => [w.object('QueuePair'), ...w.random.pick([[], [{ slots: 2, size: 64 }], [{ slots: 16 }]])],
  'Receiver.[Symbol.asyncIterator]': () => [],
  'Receiver.next': (w) => waiting(w),
  'Message.text': () => [],
  'Message.json': () => [],
  'Message.reply': (w) => [w.random.pick([w.random.pick(w.buffers), 'text']), ...w.random.pick([[], [{ immData: 1 }]])],
  'QueuePair.postSendBatch': (w) => batchOf(w, 'SendBatch'),
  'QueuePair.postRecvBatch': (w) => batchOf(w, 'RecvBatch'),
  'SharedReceiveQueue.postRecvBatch': (w) => batchOf(w, 'RecvBatch'),
  'ReceiveWorkQueue.postRecvBatch': (w) => batchOf(w, 'RecvBatch'),
  'CompletionQueue.pollBatch': (w) => [w.object('CompletionBatch')],
  'SendBatch.set': (w) => [slot(w), sendWr(w)],
  'SendBatch.setWrId': (w) => [slot(w), id(w)],
  'SendBatch.setSendFlags': (w) => [slot(w), 2],
  'SendBatch.setImmData': (w) => [slot(w), 7],
  'SendBatch.setInvalidateRkey': (w) => [slot(w), 7],
  'SendBatch.setRemote': (w) => [slot(w), w.object('MemoryRegion')?.addr ?? 0, 7],
  'SendBatch.setCompareSwap': (w) => [slot(w), 0, 1n],
  'SendBatch.setAdd': (w) => [slot(w), 1],
  'SendBatch.setAddress': (w) => [slot(w), w.object('AddressHandle'), 5, 0x1234],
  'SendBatch.setSge': (w) => [slot(w), 0, w.random.below(64), w.random.below(64)],
  'RecvBatch.set': (w) => [slot(w), recvWr(w)],
  'RecvBatch.setWrId': (w) => [slot(w), id(w)],
  'RecvBatch.setSge': (w) => [slot(w), 0, w.random.below(64), w.random.below(64)],
  ...Object.fromEntries(
    [
      'wrId',
      'status',
      'ok',
      'opcode',
      'vendorErr',
      'byteLen',
      'immData',
      'invalidatedRkey',
      'qpNum',
      'srcQp',
      'wcFlags',
    ]
      .concat('flowTag', 'at')
      .map((name) => [`CompletionBatch.${name}`, (w) => [w.random.below(4)]]),
  ),

  'WorkCompletion.toJSON': () => [],
  'CompletionQueue.poll': (w) => w.random.pick([[], [1], [64], [1000], [Infinity]]),
  'CompletionQueue.resize': (w) => [w.random.pick([1, 16, 300])],
  'CompletionQueue.modify': () => [{ cqCount: 1, cqPeriod: 1 }],
  'CompletionQueue.reqNotify': (w) => w.random.pick([[], [true], [false]]),
  'CompletionQueue.wait': waiting,
  'CompletionQueue.[Symbol.asyncIterator]': () => [],
  'CompletionChannel.getCqEvent': () => [],
  'Context.asyncEvents': waiting,

  'Context.queryDevice': () => [],
  'Context.queryDeviceEx': () => [],
  'Context.queryPort': port,
  'Context.queryGid': entry,
  'Context.queryPkey': entry,
  'Context.gidTable': (w) => (w.random.oneIn(2) ? [] : port(w)),
  'Context.queryGidEx': entry,
  'Context.pkeyIndex': (w) => [1, w.random.pick([0xffff, 0x7fff, 1])],
  'Context.queryRtValues': () => [],
  'Context.queryPortSpeed': (w) => [w.random.pick([0, 1, 2, 256])],

  enumName: (w) => [{ ...w.core.QpType }, w.random.below(12)],
  flagNames: (w) => [{ ...w.core.AccessFlags }, w.random.below(64)],
  listDevices: (w) => (w.random.oneIn(2) ? [] : [{ library: 'soft' }]),
  probeLibraries: () => [],
  readSysfsFile: (w) => [{ ...w.device }, w.random.pick(['board_id', 'no such file'])],
  openDevice: (w) => [device(w), ...(w.random.oneIn(2) ? [{ library: 'soft' }] : [])],
  objectCounts: () => [],
  openObjects: () => [],
  importDevice: (w) => [w.object('Context')?.cmdFd ?? 0, { ...w.device }],
  formatGuid: (w) => [w.device.guid],
  eventTypeText: number,
  wrOpcodeText: number,
  nodeTypeText: number,
  portStateText: number,
  wcStatusText: number,
  rateToMult: number,
  multToRate: number,
  rateToMbps: number,
  mbpsToRate: number,
  flowLabelToUdpSport: number,
  forkInit: library,
  isForkInitialized: library,
};

/** Members that every object with a lifetime has. */
export const commonCalls = {
  toString: () => [],
  close: () => [],
  '[Symbol.dispose]': () => [],
  '[inspect.custom]': (w) => [w.random.pick([-1, 0, 2]), w.random.pick([{}, { depth: 3 }, { colors: true }]), inspect],
};
