// What a sequence begins with: the good objects of some use of the library, made in the good order.
import { freshBuffers } from './world.mjs';

const QKEY = 0x1234;
const ALL_ACCESS = 0xf;

/** An open device with what every use needs. */
function base(w, name) {
  const ctx = w.take(w.core.openDevice(name));
  const pd = w.take(ctx.allocPd());
  const channel = w.take(ctx.createCompChannel());
  const cq = w.take(ctx.createCq(64, { channel }));
  const mr = w.take(pd.allocMr(w.random.pick([64, 4096, 65536]), ALL_ACCESS));
  return { ctx, pd, channel, cq, mr };
}

function makeQp(w, { pd, cq }, qpType, more = {}) {
  const cap = { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 4, maxRecvSge: 4, maxInlineData: 64 };
  return w.take(pd.createQp({ qpType, sendCq: cq, recvCq: cq, cap, ...more }));
}

function connect(one, two, gid, options = {}) {
  const rest = { access: ALL_ACCESS, timeout: 10, retryCnt: 1, rnrRetry: 1, ...options };
  one.connect({ remote: { qpNum: two.qpNum, gid }, ...rest });
  two.connect({ remote: { qpNum: one.qpNum, gid }, ...rest });
}

function traffic(w, { mr }, one, two) {
  const { WrOpcode, SendFlags } = w.core;
  const { addr: remoteAddr, rkey } = mr;
  two.postRecv([{ wrId: 1, sgList: [{ mr, length: 64 }] }, { wrId: 2n }]);
  const sgList = [{ mr, length: 64 }];
  one.postSend([
    { opcode: WrOpcode.SEND, wrId: 3, sendFlags: SendFlags.SIGNALED, sgList },
    { opcode: WrOpcode.RDMA_WRITE, wrId: 4, sendFlags: SendFlags.SIGNALED, remoteAddr, rkey, sgList },
  ]);
}

const uses = {
  bare: () => undefined,
  connected: (w, b, { RC, UC }) => {
    const type = w.random.pick([RC, RC, UC]);
    const ops = w.random.oneIn(3) ? { sendOpsFlags: 0x37f } : {};
    const [one, two] = [makeQp(w, b, type, type === RC ? ops : {}), makeQp(w, b, type)];
    connect(one, two, w.gid);
    if (w.random.oneIn(2)) traffic(w, b, one, two);
  },
  datagrams: (w, b, { UD }) => {
    const [one, two] = [makeQp(w, b, UD), makeQp(w, b, UD)];
    for (const qp of [one, two]) qp.activate({ qkey: QKEY });
    const ah = w.take(b.pd.createAh({ portNum: 1, grh: { dgid: w.gid } }));
    two.postRecv({ wrId: 7, sgList: [{ mr: b.mr }] });
    const to = { ah, remoteQpn: two.qpNum, remoteQkey: QKEY };
    one.postSend({ opcode: w.core.WrOpcode.SEND, wrId: 8, sendFlags: 2, sgList: [{ mr: b.mr, length: 8 }], ...to });
  },
  shared: (w, b, { RC }) => {
    const srq = w.take(b.pd.createSrq({ maxWr: 16, maxSge: 2 }));
    const [one, two] = [makeQp(w, b, RC, { srq }), makeQp(w, b, RC, { srq })];
    srq.postRecv([{ wrId: 1, sgList: [{ mr: b.mr, length: 16 }] }, { wrId: 2 }]);
    connect(one, two, w.gid);
    one.postSend({ opcode: w.core.WrOpcode.SEND, wrId: 3, sendFlags: 2, sgList: [{ mr: b.mr, length: 16 }] });
  },
  tags: (w, b, { RC }) => {
    const tagMatching = { maxTags: 4, maxOps: 4 };
    const srq = w.take(b.pd.createSrq({ maxWr: 8, srqType: w.core.SrqType.TM, cq: b.cq, tagMatching }));
    const cap = { maxSendWr: 0, maxRecvWr: 0 };
    const [one, two] = [makeQp(w, b, RC), makeQp(w, b, RC, { srq, cap })];
    srq.addTag({ wrId: 1, tag: 0, mask: 0, sgList: [{ mr: b.mr, length: 64 }], signaled: true });
    srq.postRecv({ wrId: 2, sgList: [{ mr: b.mr, length: 64 }] });
    connect(one, two, w.gid);
    one.postSend({ opcode: w.core.WrOpcode.SEND, wrId: 3, sendFlags: 2, sgList: [{ mr: b.mr, length: 32 }] });
  },
  xrc: (w, b, { XRC_SEND }) => {
    const xrcd = w.take(b.ctx.openXrcd());
    w.take(b.pd.createSrq({ maxWr: 8, srqType: w.core.SrqType.XRC, xrcd, cq: b.cq }));
    const target = w.take(xrcd.createQp());
    const initiator = makeQp(w, b, XRC_SEND);
    connect(initiator, target, w.gid);
  },
  windows: (w, b, { RC }) => {
    const mr = w.take(b.pd.allocMr(4096, ALL_ACCESS | w.core.AccessFlags.MW_BIND));
    const [one, two] = [makeQp(w, b, RC), makeQp(w, b, RC)];
    connect(one, two, w.gid);
    const mw = w.take(b.pd.allocMw(w.core.MwType.TYPE_1));
    w.take(b.pd.allocMw(w.core.MwType.TYPE_2));
    one.bindMw(mw, { wrId: 1, sendFlags: 2, bindInfo: { mr, offset: 0, length: 64, access: ALL_ACCESS } });
  },
  device: (w, b) => {
    const dm = w.take(b.ctx.allocDm(256));
    w.take(b.pd.regDmMr(dm, ALL_ACCESS));
    w.take(b.pd.allocNullMr());
    w.take(b.ctx.allocTd());
  },
  extended: (w, b, { RC }) => {
    const cq = w.take(b.ctx.createCq(64, { channel: b.channel, wcFlags: w.random.pick([0, 0x7f, 0x8ff]) }));
    const [one, two] = [makeQp(w, { ...b, cq }, RC), makeQp(w, { ...b, cq }, RC)];
    connect(one, two, w.gid);
    traffic(w, b, one, two);
  },
};

/** Throws if the good calls do not work: then nothing that follows means anything. `say` is told what is made. */
export function prepare(w, say) {
  const name = w.random.pick(['soft0', 'soft0', 'soft1']);
  const use = (b) => {
    const chosen = w.random.pick(Object.keys(uses));
    say(`good objects on ${name}: ${chosen}`);
    uses[chosen](w, b, w.core.QpType);
  };
  const b = base(w, name);
  w.device = Object.freeze({ ...b.ctx.device });
  w.gid = b.ctx.defaultGid().gid;
  use(b);
  if (w.random.oneIn(3)) use(b);
  // Objects of two contexts, which must never meet.
  if (w.random.oneIn(3)) base(w, w.random.pick(['soft0', 'soft1']));
  const { SendBatch, RecvBatch, CompletionBatch } = w.core;
  const sends = w.take(new SendBatch(8, { maxSge: 4 }));
  const receives = w.take(new RecvBatch(8, { maxSge: 2 }));
  for (let slot = 0; slot < 6; slot++) {
    const sgList = [{ mr: b.mr, length: 8 }];
    sends.set(slot, { opcode: w.core.WrOpcode.SEND, wrId: slot, sendFlags: 2, sgList });
    receives.set(slot, { wrId: slot, sgList });
  }
  w.take(new CompletionBatch(8));
  w.buffers = freshBuffers();
}
