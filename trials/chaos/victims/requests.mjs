// Calls that need what the process lacks just now: descriptors or memory. Each either succeeds or fails with an error of
// the package.
import { AccessFlags, openDevice, QpType, VerbsError } from '@verbs/core';

/** How often each call ended how, and what was thrown that is no error of a system call. */
export function requests({ device, rounds, megabytes }) {
  const outcomes = {};
  const strange = [];
  for (let round = 0; round < rounds; round++) {
    const opened = [];
    const note = (name, call) => {
      let outcome = 'ok';
      try {
        const object = call();
        opened.push(object);
        return object;
      } catch (error) {
        outcome = error.code ?? error.name;
        if (!(error instanceof VerbsError)) strange.push(`${name}: ${error.stack}`);
        return undefined;
      } finally {
        const key = `${name} ${outcome}`;
        outcomes[key] = (outcomes[key] ?? 0) + 1;
      }
    };
    const context = note('open', () => openDevice(device));
    const pd = context && note('pd', () => context.allocPd());
    const channel = context && note('channel', () => context.createCompChannel());
    const cq = channel && note('cq', () => context.createCq(4096, { channel }));
    if (pd && cq) {
      const cap = { maxSendWr: 4096, maxRecvWr: 4096, maxSendSge: 16, maxRecvSge: 16 };
      note('qp', () => pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap }));
    }
    if (pd) {
      note('srq', () => pd.createSrq({ maxWr: 4096, maxSge: 16 }));
      note('mr', () => pd.allocMr(megabytes << 20, AccessFlags.LOCAL_WRITE));
      note('small mr', () => pd.regMr(new SharedArrayBuffer(8192), AccessFlags.LOCAL_WRITE));
    }
    for (const object of opened.reverse()) object?.close();
  }
  return { outcomes, strange };
}
