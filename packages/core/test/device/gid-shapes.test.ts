import { configure } from '@verbs/soft';
import { afterEach, expect, it } from 'vitest';
import { openDevice, QpType, WrOpcode } from '../../src/index.js';

// Programs know the entries of a kind of device by their index.

afterEach(() => {
  configure(null);
});

const expected = {
  plain: ['address ROCE_V2'],
  rxe: ['link-local ROCE_V2', 'address ROCE_V2'],
  mlx5: ['link-local ROCE_V1', 'link-local ROCE_V2', 'address ROCE_V1', 'address ROCE_V2'],
} as const;

it.each(Object.keys(expected) as (keyof typeof expected)[])('a GID table in the order of %s', async (gids) => {
  configure(`shaped,link=process,gids=${gids}`);
  using ctx = openDevice('shaped');
  const names = ['', 'ROCE_V1', 'ROCE_V2'];
  expect(
    ctx
      .gidTable(1)
      .map(({ gid, type }) => `${gid.startsWith('fe80::') ? 'link-local' : 'address'} ${names[type] ?? type}`),
  ).toEqual(expected[gids]);
  const last = expected[gids].length - 1;
  const { gid, index } = ctx.defaultGid(1);
  expect([gid.startsWith('::ffff:127.'), index]).toEqual([true, last]);

  const pd = ctx.allocPd();
  const cq = ctx.createCq(8);
  const attr = { qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 2, maxRecvWr: 2 } } as const;
  const [one, two] = [pd.createQp(attr), pd.createQp(attr)];
  // Those before it hold its place.
  for (let sgidIndex = 0; sgidIndex < last; sgidIndex++) {
    expect(() => {
      pd.createQp(attr).connect({ remote: { qpNum: two.qpNum, gid }, sgidIndex });
    }).toThrow(/EINVAL/);
  }
  one.connect({ remote: { qpNum: two.qpNum, gid }, sgidIndex: last });
  two.connect({ remote: { qpNum: one.qpNum, gid }, sgidIndex: last });
  const received = two.recv({});
  await one.send({ opcode: WrOpcode.SEND, sgList: [] });
  expect(await received).toMatchObject({ byteLen: 0 });
});
