// What a device with nothing configured has of its host, as JSON. Argument: the address of another host.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { AccessFlags, enumName, Mtu, openDevice, QpType, WrOpcode } from '@verbs/core';

const [other] = process.argv.slice(2);
const LATE = '10.213.99.9';
const context = openDevice('soft0');
const table = () => context.gidTable(1).map(({ gid }) => gid);
// Link-local addresses come by themselves, at their time.
const assigned = () => table().filter((gid) => !gid.startsWith('fe80:'));

/** The IPv4 addresses at which this machine receives packets of RoCE. */
function bound() {
  const lines = readFileSync('/proc/net/udp', 'utf8').split('\n').slice(1);
  const addresses = lines.flatMap((line) => / ([0-9A-F]{8}):12B7 /.exec(line)?.[1] ?? []);
  return addresses.map((hex) => Buffer.from(hex, 'hex').reverse().join('.')).sort();
}

/** The next change of the table, after `ip` has done something. */
async function changed(...args) {
  const event = (async () => {
    for await (const { name } of context.asyncEvents()) {
      if (table().includes(`::ffff:${LATE}`) === (args[1] === 'add')) return name;
    }
  })();
  execFileSync('ip', args);
  return [await event, table().includes(`::ffff:${LATE}`)];
}

const result = { table: assigned(), unused: bound() };
const pd = context.allocPd();
const cq = context.createCq(4);
const ah = pd.createAh({ portNum: 1, grh: { dgid: `::ffff:${other}`, sgidIndex: 1 } });
result.used = bound();
const qp = pd.createQp({ qpType: QpType.UD, sendCq: cq, recvCq: cq, cap: { maxSendWr: 2, maxRecvWr: 2 } });
qp.activate({ qkey: 1 });
const mr = pd.allocMr(2000, AccessFlags.LOCAL_WRITE);
const sent = await qp
  .send({ opcode: WrOpcode.SEND, sgList: [{ mr }], ah, remoteQpn: 77, remoteQkey: 1 })
  .catch((error) => error);
result.long = sent.code ?? sent;
result.mtu = enumName(Mtu, context.queryPort(1).activeMtu);
result.come = await changed('addr', 'add', `${LATE}/24`, 'dev', 'eth0');
result.gone = await changed('addr', 'del', `${LATE}/24`, 'dev', 'eth0');
console.log(JSON.stringify(result));
context.close();
