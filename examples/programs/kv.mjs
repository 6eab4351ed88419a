// @ts-check
// A key-value store whose server sleeps: clients read and write its memory by RDMA.
//   node kv.mjs serve                    # in one shell
//   node kv.mjs put colour green         # in another one
//   node kv.mjs get colour
// kv/kv.c and kv/kv.py are clients in other languages.
//
// The table is an array of slots, found by a hash of the key. A slot is a version, the lengths of key and value, and
// their bytes. An even version is at rest; a writer makes it odd by compare-and-swap, writes, and makes it even again. A
// reader reads the whole slot, and reads again while the version is odd or was another one afterwards. A slot keeps its
// key for good. Numbers are little-endian. The server's accept says where the table is: "ADDRESS RKEY", both in hex.
import { parseArgs } from 'node:util';
import { AccessFlags, WrOpcode } from '@verbs/core';
import { connect, listen } from '@verbs/rdmacm';

const SLOTS = 1024;
const SLOT = 256;
const HEAD = 16;
const REMOTE = AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { host: { type: 'string' }, port: { type: 'string', default: '18516' } },
});
const [command, key, value] = positionals;
const where = { ...(values.host !== undefined && { host: values.host }), port: Number(values.port) };
const cap = { maxSendWr: 4, maxRecvWr: 1 };

async function serve() {
  const server = listen(where);
  console.error(`serving ${SLOTS} slots on ${server.addresses()[0]} port ${server.address().port}`);
  /** @type {import('@verbs/core').MemoryRegion | undefined} */
  let table;
  for await (const request of server) {
    // The server's only work for a client: a queue pair, which lives as long as the client's connection.
    table ??= request.context?.allocPd().allocMr(SLOTS * SLOT, AccessFlags.LOCAL_WRITE | REMOTE);
    if (table === undefined) throw new Error('the request has no device');
    const { pd, addr, rkey } = table;
    const privateData = `${addr.toString(16)} ${rkey.toString(16)}`;
    const accepted = request.accept({ qp: { pd, cap }, privateData });
    void keep(accepted).catch((/** @type {unknown} */ error) => {
      console.error(`a client was not served: ${String(error)}`);
    });
  }
}

/** @param {Promise<import('@verbs/rdmacm').Connection>} accepted */
async function keep(accepted) {
  const connection = await accepted;
  await connection.whenDisconnected();
  connection.close();
}

async function openTable() {
  const connection = await connect({ ...where, qp: { cap } });
  const { qp, pd } = connection;
  const [addr, key] = new TextDecoder().decode(connection.privateData).replace(/\0*$/, '').split(' ');
  const rkey = Number(`0x${key}`);
  const mr = pd.allocMr(SLOT + 8, AccessFlags.LOCAL_WRITE);
  const view = new DataView(mr.buffer);
  const whole = [{ mr, offset: 0, length: SLOT }];
  const body = [{ mr, offset: 8, length: SLOT - 8 }];
  const word = [{ mr, offset: SLOT, length: 8 }];

  const addressOf = (/** @type {number} */ slot) => BigInt(`0x${addr}`) + BigInt(slot * SLOT);
  /** @param {number} slot */
  const version = async (slot) => {
    await qp.send({ opcode: WrOpcode.RDMA_READ, remoteAddr: addressOf(slot), rkey, sgList: word });
    return view.getBigUint64(SLOT, true);
  };
  return {
    version,
    /** The slot's key and value at rest: not while a writer changes them. Undefined if it was never written. */
    read: async (/** @type {number} */ slot) => {
      for (;;) {
        await qp.send({ opcode: WrOpcode.RDMA_READ, remoteAddr: addressOf(slot), rkey, sgList: whole });
        const before = view.getBigUint64(0, true);
        const content = Buffer.from(mr.bytes.subarray(HEAD, SLOT));
        const keyEnd = view.getUint32(8, true);
        const valueEnd = keyEnd + view.getUint32(12, true);
        if (before % 2n !== 0n || (await version(slot)) !== before) continue;
        if (before === 0n) return undefined;
        return { key: content.toString('utf8', 0, keyEnd), value: content.toString('utf8', keyEnd, valueEnd) };
      }
    },
    write: async (/** @type {number} */ slot, /** @type {Buffer} */ name, /** @type {Buffer} */ text) => {
      view.setUint32(8, name.length, true);
      view.setUint32(12, text.length, true);
      mr.bytes.set(Buffer.concat([name, text]), HEAD);
      await qp.send({ opcode: WrOpcode.RDMA_WRITE, remoteAddr: addressOf(slot) + 8n, rkey, sgList: body });
    },
    /** True if the version was `from`, and is `to` now. */
    exchange: async (/** @type {number} */ slot, /** @type {bigint} */ from, /** @type {bigint} */ to) => {
      const opcode = WrOpcode.ATOMIC_CMP_AND_SWP;
      await qp.send({ opcode, remoteAddr: addressOf(slot), rkey, compare: from, swap: to, sgList: word });
      return view.getBigUint64(SLOT, true) === from;
    },
    close: async () => {
      await connection.disconnect();
      connection.close();
    },
  };
}

/** Where a key may be: from its hash on, up to the first slot that was never written. @param {string} name */
function* slotsOf(name) {
  let hash = 0x811c9dc5; // FNV-1a
  for (const byte of Buffer.from(name)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  for (let probe = 0; probe < SLOTS; probe++) yield (hash + probe) % SLOTS;
}

/** @param {string} name @returns {Promise<string | undefined>} */
async function get(name) {
  const table = await openTable();
  try {
    for (const slot of slotsOf(name)) {
      const found = await table.read(slot);
      if (found === undefined) return undefined;
      if (found.key === name) return found.value;
    }
    return undefined;
  } finally {
    await table.close();
  }
}

/** @param {string} name @param {string} text */
async function put(name, text) {
  const [nameBytes, textBytes] = [Buffer.from(name), Buffer.from(text)];
  if (HEAD + nameBytes.length + textBytes.length > SLOT) {
    throw new Error(`key and value have more than ${SLOT - HEAD} bytes`);
  }
  const table = await openTable();
  try {
    for (const slot of slotsOf(name)) {
      for (;;) {
        const found = await table.read(slot);
        if (found !== undefined && found.key !== name) break;
        const version = await table.version(slot);
        // Another client writes here, or has written since the read: read again.
        if (version % 2n !== 0n || (found === undefined) !== (version === 0n)) continue;
        if (!(await table.exchange(slot, version, version + 1n))) continue;
        await table.write(slot, nameBytes, textBytes);
        await table.exchange(slot, version + 1n, version + 2n);
        return;
      }
    }
    throw new Error('the table is full');
  } finally {
    await table.close();
  }
}

if (command === 'serve') {
  await serve();
} else if (command === 'put' && key !== undefined && value !== undefined) {
  await put(key, value);
} else if (command === 'get' && key !== undefined) {
  const found = await get(key);
  if (found === undefined) process.exitCode = 1;
  else console.log(found);
} else {
  console.error('kv serve | kv put KEY VALUE | kv get KEY   [--host ADDRESS] [--port N]');
  process.exitCode = 2;
}
