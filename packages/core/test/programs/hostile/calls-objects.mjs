// Good arguments for the calls that make and change objects. What a sequence does with them is not good.

const ALL_ACCESS = 0xf;

const cap = (w) => ({
  maxSendWr: w.random.pick([1, 4, 16, 64]),
  maxRecvWr: w.random.pick([1, 4, 16]),
  ...(w.random.oneIn(2) ? { maxSendSge: 1 + w.random.below(4), maxRecvSge: 1 + w.random.below(4) } : {}),
  ...(w.random.oneIn(2) ? { maxInlineData: w.random.pick([0, 16, 64, 256]) } : {}),
});
const access = (w) => w.random.pick([ALL_ACCESS, ALL_ACCESS, 0, 1, 7, 0x1f, 0x2f, 0x100000, 0x4f, 0x30f]);
const length = (w) => w.random.pick([1, 8, 64, 4096, 4097, 65536]);
const dgid = (w) =>
  w.random.pick([w.gid, w.gid, w.gid, '::ffff:127.0.0.1', 'ff0e::ffff:224.1.2.3', new Uint8Array(16)]);
export const ahAttr = (w) => ({
  portNum: 1,
  grh: { dgid: dgid(w), sgidIndex: 0, ...(w.random.oneIn(2) ? { hopLimit: 1, flowLabel: 7, trafficClass: 3 } : {}) },
  ...(w.random.oneIn(4) ? { sl: 1, dlid: 5, srcPathBits: 0, staticRate: 0, isGlobal: true } : {}),
});
/** The way back to a sender: real, or in the form of one. */
const received = (w) =>
  w.completions.length > 0 && w.random.oneIn(2)
    ? w.random.pick(w.completions)
    : { wcFlags: w.random.below(2), srcQp: 5, slid: 0, sl: 0, dlidPathBits: 0, pkeyIndex: 0 };
const header = (w) => {
  const mr = w.object('MemoryRegion');
  return w.random.pick([mr?.bytes.subarray(0, 40), new Uint8Array(40), undefined]);
};
const view = (w) => {
  const mr = w.object('MemoryRegion');
  return w.random.pick([mr?.bytes, mr?.buffer, w.random.pick(w.buffers), new SharedArrayBuffer(length(w))]);
};
/** Memory for `unsafe`, which nothing takes away. */
const own = (w) => new Uint8Array(length(w));
const optionally = (w, fields) => (w.random.oneIn(2) ? [fields] : []);

function qpInit(w) {
  const { QpType } = w.core;
  const qpType = w.random.pick([QpType.RC, QpType.RC, QpType.UC, QpType.UD, QpType.XRC_SEND, QpType.RAW_PACKET]);
  return {
    qpType,
    sendCq: w.object('CompletionQueue'),
    recvCq: w.object('CompletionQueue'),
    cap: cap(w),
    ...(w.random.oneIn(4) ? { srq: w.object('SharedReceiveQueue') } : {}),
    ...(w.random.oneIn(4) ? { sqSigAll: true } : {}),
    ...(w.random.oneIn(4) ? { sendOpsFlags: w.random.pick([0x17ff, 0x1fff]) } : {}),
    ...(w.random.oneIn(12) ? { createFlags: 1 << w.random.below(12), maxTsoHeader: 64, sourceQpn: 3 } : {}),
    ...(w.random.oneIn(12) ? { xrcd: w.object('XrcDomain') } : {}),
    ...(w.random.oneIn(8)
      ? { rwqIndTbl: w.object('IndirectionTable'), rxHashConf: { function: 1, key: new Uint8Array(40), fields: 3 } }
      : {}),
  };
}

function flow(w) {
  const specs = [
    { type: 'eth', val: { dstMac: new Uint8Array(6), etherType: 0x800 }, mask: { etherType: 0xffff } },
    { type: 'udp', inner: true, val: { dstPort: 4791 } },
    { type: 'tag', tagId: 7 },
    { type: 'drop' },
    { type: 'count', counters: w.object('Counters') },
  ];
  return { port: 1, priority: w.random.below(3), type: w.random.below(4), specs: w.random.shuffled(specs).slice(0, 3) };
}

export const objectCalls = {
  'Context.importPd': (w) => [w.object('ProtectionDomain')?.pdHandle ?? 1],
  'Context.allocTd': () => [],
  'Context.allocDmah': (w) => [
    { ph: w.random.below(5), ...(w.random.oneIn(2) ? { cpuId: 0, tphMemType: w.random.below(2) } : {}) },
  ],
  'Context.openXrcd': (w) => optionally(w, { fd: 0, exclusive: w.random.oneIn(2) === true }),
  'Context.allocDm': (w) => [w.random.pick([4, 64, 4096]), ...optionally(w, { logAlignment: w.random.below(8) })],
  'Context.importDm': (w) => [w.object('DeviceMemory')?.dmHandle ?? 1, 64],
  'Context.createCounters': () => [],
  'Context.createRwqIndTable': (w) => [
    Array.from({ length: w.random.pick([1, 2, 4]) }, () => w.object('ReceiveWorkQueue')),
  ],
  'Context.allocPd': () => [],
  'Context.createCompChannel': () => [],
  'Context.createCq': (w) => [
    w.random.pick([1, 4, 16, 256]),
    {
      ...(w.random.oneIn(3) ? {} : { channel: w.object('CompletionChannel') }),
      ...(w.random.oneIn(3) ? { wcFlags: w.random.pick([0, 0x7f, 0x8ff, 0xfff]) } : {}),
      ...(w.random.oneIn(8) ? { flags: w.random.below(4), parentDomain: w.object('ProtectionDomain') } : {}),
      ...(w.random.oneIn(4) ? { compVector: 0 } : {}),
    },
  ],
  'Context.initAhFromWc': (w) => [1, received(w), header(w)],
  'Context.resolveEthL2FromGid': (w) => [ahAttr(w)],

  'ProtectionDomain.allocParentDomain': (w) =>
    optionally(w, { td: w.object('ThreadDomain'), allowCcUnprotectedAlloc: w.random.oneIn(2) === true }),
  'ProtectionDomain.allocBuf': (w) => [length(w)],
  'ProtectionDomain.regBufMr': (w) => [
    w.object('LibraryBuffer'),
    access(w),
    ...optionally(w, { offset: 0, length: length(w) }),
  ],
  'ProtectionDomain.regMrEx': (w) => [
    {
      access: access(w),
      ...w.random.pick([
        { view: view(w) },
        { view: own(w), unsafe: true },
        { buf: w.object('LibraryBuffer') },
        { fd: 0, offset: 0, length: 64 },
      ]),
      ...(w.random.oneIn(3) ? { dmah: w.object('DmaHandle') } : {}),
      ...(w.random.oneIn(6) ? { iova: 0x10000n } : {}),
    },
  ],
  'ProtectionDomain.allocMr': (w) => [length(w), access(w), ...optionally(w, { iova: 0x10000n })],
  'ProtectionDomain.regMr': (w) =>
    w.random.oneIn(4) ? [own(w), access(w), { unsafe: true }] : [view(w), access(w), ...optionally(w, { iova: 4096n })],
  'ProtectionDomain.allocNullMr': () => [],
  'ProtectionDomain.regDmMr': (w) => [w.object('DeviceMemory'), access(w), ...optionally(w, { offset: 0, length: 4 })],
  'ProtectionDomain.regDmabufMr': (w) => [0, access(w), { offset: 0, length: 64, iova: 0n }],
  'ProtectionDomain.importMr': (w) => [w.object('MemoryRegion')?.mrHandle ?? 1],
  'ProtectionDomain.adviseMr': (w) => [
    w.random.below(3),
    [{ mr: w.object('MemoryRegion'), offset: 0, length: 1 }],
    w.random.below(2),
  ],
  'ProtectionDomain.allocMw': (w) => [1 + w.random.below(2)],
  'ProtectionDomain.createQp': (w) => [qpInit(w)],
  'ProtectionDomain.createSrq': (w) => [
    {
      maxWr: w.random.pick([1, 4, 64]),
      ...(w.random.oneIn(2) ? { maxSge: 2, srqLimit: w.random.below(4) } : {}),
      ...(w.random.oneIn(4) ? { srqType: 1, xrcd: w.object('XrcDomain'), cq: w.object('CompletionQueue') } : {}),
      ...(w.random.oneIn(4)
        ? { srqType: 2, cq: w.object('CompletionQueue'), tagMatching: { maxTags: 4, maxOps: 2 } }
        : {}),
    },
  ],
  'ProtectionDomain.createWq': (w) => [
    { cq: w.object('CompletionQueue'), maxWr: 4, ...(w.random.oneIn(2) ? { maxSge: 2, createFlags: 0 } : {}) },
  ],
  'ProtectionDomain.createAh': (w) => [ahAttr(w)],
  'ProtectionDomain.createAhFromWc': (w) => [received(w), header(w), 1],
  'ProtectionDomain.pdHandle': () => [],

  'MemoryRegion.rereg': (w) => [
    {
      ...(w.random.oneIn(2) ? { access: access(w) } : {}),
      ...(w.random.oneIn(3) ? { pd: w.object('ProtectionDomain') } : {}),
      ...(w.random.oneIn(3) ? (w.random.oneIn(2) ? { view: view(w) } : { view: own(w), unsafe: true }) : {}),
    },
  ],
  'DeviceMemory.copyTo': (w) => [w.random.pick([0, 4, 64]), new Uint8Array(w.random.pick([4, 8, 64]))],
  'DeviceMemory.exportDmabufFd': () => [],
  'LibraryBuffer.copyTo': (w) => [w.random.pick([0, 4, 64]), new Uint8Array(w.random.pick([4, 8, 64]))],
  'LibraryBuffer.copyFrom': (w) => [w.random.pick([0, 4, 64]), new Uint8Array(w.random.pick([4, 8, 64]))],
  'LibraryBuffer.exportDmabufFd': () => [],
  'DeviceMemory.copyFrom': (w) => [w.random.pick([0, 4, 64]), new Uint8Array(w.random.pick([4, 8, 64]))],
  'MemoryWindow.nextRkey': () => [],
  'XrcDomain.createQp': () => [],
  'XrcDomain.openQp': (w) => [w.object('QueuePair')?.qpNum ?? 5],
  'QueuePair.createFlow': (w) => [flow(w)],
  'Counters.attach': (w) => [
    { counterDesc: w.random.below(2), index: w.random.below(4) },
    ...(w.random.oneIn(3) ? [w.object('Flow')] : []),
  ],
  'Counters.read': () => [],
  'Context.queryCompCntrCaps': () => [],
  'Context.createCompCntr': (w) => optionally(w, { type: w.random.below(2) }),
  'QueuePair.attachCompCntr': (w) => [w.object('CompletionCounter'), w.random.pick([1, 2, 5, 63])],
  'CompletionCounter.read': () => [],
  'CompletionCounter.readErrors': () => [],
  'CompletionCounter.set': (w) => [w.random.pick([0, 7n, (1n << 64n) - 1n])],
  'CompletionCounter.setErrors': (w) => [w.random.pick([0, 7n])],
  'CompletionCounter.inc': (w) => (w.random.oneIn(2) ? [] : [w.random.pick([1, 3n])]),
  'CompletionCounter.incErrors': (w) => (w.random.oneIn(2) ? [] : [1n]),
  'CompletionCounter.reach': (w) => [w.random.pick([0, 1n]), { signal: AbortSignal.timeout(1) }],
  'IndirectionTable.close': () => [],
};
