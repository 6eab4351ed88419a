import { describe, expect, it } from 'vitest';
import { Mtu, QpType, WrOpcode } from '../../src/index.js';
import { bench } from '../helpers/devices.js';

// What the compiler rejects: `npm run lint types` fails where one of these lines compiles.
describe('types', () => {
  const b = () => {
    const made = bench();
    const cap = { maxSendWr: 1, maxRecvWr: 1 };
    const attr = { sendCq: made.cq, recvCq: made.cq, cap };
    return {
      ...made,
      rc: made.pd.createQp({ ...attr, qpType: QpType.RC }),
      ud: made.pd.createQp({ ...attr, qpType: QpType.UD }),
    };
  };

  it('a path MTU is one of Mtu, and errors name its members', () => {
    const { rc } = b();
    const end = rc.endpoint();
    expect(() => {
      // @ts-expect-error bytes are no Mtu
      rc.connect(end, { pathMtu: 4096 });
    }).toThrow(
      'options.pathMtu must be one of Mtu.MTU_256, Mtu.MTU_512, Mtu.MTU_1024, Mtu.MTU_2048, Mtu.MTU_4096; received 4096',
    );
    rc.connect(end, { pathMtu: Mtu.MTU_256 });
  });

  it('a UD queue pair has no connection, a connected one no activate', () => {
    const { rc, ud } = b();
    // @ts-expect-error UD has no connection
    expect(ud.connect.bind(ud, rc.endpoint())).toThrow(/activate/);
    // @ts-expect-error RC has one
    expect(rc.activate.bind(rc, { qkey: 1 })).toThrow(/connect/);
  });

  it('a request of UD has its receiver, and is a SEND', () => {
    const { ud, rc, mr } = b();
    expect(() => {
      // @ts-expect-error UD does not read
      ud.postSend({ opcode: WrOpcode.RDMA_READ, sgList: [{ mr }], remoteAddr: 0n, rkey: 0 });
    }).toThrow();
    expect(() => {
      // @ts-expect-error no address handle
      ud.postSend({ opcode: WrOpcode.SEND, sgList: [{ mr }] });
    }).toThrow(/wr\.ah/);
    expect(() => {
      rc.postSend({ opcode: WrOpcode.RDMA_READ, sgList: [{ mr }], remoteAddr: 0n, rkey: 0 });
    }).toThrow(/EINVAL/);
  });
});
