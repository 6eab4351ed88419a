// WebAssembly's traps are faults of this process, too: between regions, a FIFO and memory that vanished under regions.
import { AccessFlags, openDevice as openCore, QpState, QpType, SendFlags, WcStatus, WrOpcode } from '@verbs/core';
import { createUsrFifo, openDevice } from '@verbs/hbl';
import { configure } from '@verbs/soft';

configure('hbl_0,kind=hbl;soft0');

// (module (memory 1) (func (export "load") (param i32) (result i32) (i32.load (local.get 0))))
const code = Uint8Array.from([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 1, 127, 1, 127, 3, 2, 1, 0, 5, 3, 1, 0, 1, 7, 8, 1, 4, 108, 111, 97, 100, 0,
  0, 10, 9, 1, 7, 0, 32, 0, 40, 2, 0, 11,
]);
const { load } = new WebAssembly.Instance(new WebAssembly.Module(code)).exports;

let traps = 0;
function trap() {
  for (let i = 0; i < 100; i++) {
    try {
      load(0x7fff0000 + i * 4);
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) traps++;
    }
  }
}

const ctx = openCore('soft0');
const pd = ctx.allocPd();
const cq = ctx.createCq(16);
const access = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;
const target = pd.allocMr(4096, access);

function createQp() {
  const qp = pd.createQp({
    qpType: QpType.RC,
    sendCq: cq,
    recvCq: cq,
    cap: { maxSendWr: 1, maxRecvWr: 1, maxSendSge: 1 },
  });
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: access });
  return qp;
}

function connect(qp, peer) {
  const ahAttr = { portNum: 1, grh: { dgid: ctx.queryGid(1, 0), sgidIndex: 0, hopLimit: 64 } };
  const { qpNum: destQpNum } = peer;
  qp.modify({ qpState: QpState.RTR, pathMtu: 3, destQpNum, ahAttr, rqPsn: 0, maxDestRdAtomic: 1, minRnrTimer: 12 });
  qp.modify({ qpState: QpState.RTS, sqPsn: 0, timeout: 14, retryCnt: 7, rnrRetry: 7, maxRdAtomic: 1 });
}

let vanished = 0;
let errors = 0;
/** A request from memory that JavaScript has given away, where the Node version lets it. */
function vanish() {
  const bytes = new Uint8Array(64 << 20);
  const mr = pd.regMr(bytes, AccessFlags.LOCAL_WRITE, { unsafe: true });
  try {
    bytes.buffer.transfer(16);
  } catch {
    mr.close();
    return;
  }
  vanished++;
  const qp = createQp();
  const peer = createQp();
  connect(qp, peer);
  connect(peer, qp);
  qp.postSend({
    opcode: WrOpcode.RDMA_WRITE,
    sendFlags: SendFlags.SIGNALED,
    remoteAddr: target.addr,
    rkey: target.rkey,
    sgList: [{ addr: mr.addr, lkey: mr.lkey, length: 64 }],
  });
  let [wc] = cq.poll(1);
  while (wc === undefined) [wc] = cq.poll(1);
  if (wc.status === WcStatus.LOC_PROT_ERR) errors++;
  qp.close();
  peer.close();
  mr.close();
}

trap();
vanish();
trap();
const hbl = openDevice('hbl_0');
const fifo = createUsrFifo(hbl, { portNum: 1 });
fifo.push(0n);
vanish();
trap();
pd.allocMr(4096, access);
fifo.push(0n);
vanish();
trap();
console.log(`traps: ${traps}, errors: ${errors} of ${vanished}`);
hbl.close();
ctx.close();
