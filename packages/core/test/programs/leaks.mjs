// Makes and closes objects of every type again and again, and sees that memory stays flat. `--collect` leaves the closing
// to the garbage collector. A small young generation belongs to it: how much of that V8 keeps at hand differs by far more
// than what is looked for.
import process from 'node:process';
import { setImmediate as turn } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { AccessFlags, MwType, objectCounts, openDevice, QpType } from '../../dist/index.js';

const usage = `Usage: node --expose-gc --max-semi-space-size=1 leaks.mjs [--cycles N] [--warm-up N] [--type NAME] [--collect] [--json]

  --cycles N    of each type, 100000 if not given
  --warm-up N   cycles before them, 10000 if not given
  --type NAME   one type
  --collect     nothing is closed: the garbage collector frees it
  --json        the results as one JSON object`;

const { values: options } = parseArgs({
  options: {
    cycles: { type: 'string', default: '100000' },
    'warm-up': { type: 'string', default: '10000' },
    type: { type: 'string' },
    collect: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) {
  console.log(usage);
  process.exit(0);
}
/** @param {'cycles' | 'warm-up'} name */
function wholeNumber(name) {
  const value = Number(options[name]);
  if (Number.isInteger(value) && value > 0) return value;
  console.error(`leaks: --${name} ${options[name]}: give a whole number\n\n${usage}`);
  process.exit(2);
}
const cycles = wholeNumber('cycles');
const warmUp = wholeNumber('warm-up');

/** What the heap goes up and down by: of 100,000 cycles 84 bytes each. */
const SLACK = 8 * 1024 * 1024;

const ctx = openDevice('soft0');
const pd = ctx.allocPd();
const channel = ctx.createCompChannel();
const cq = ctx.createCq(16, { channel });
const cap = { maxSendWr: 4, maxRecvWr: 4 };
const shared = new SharedArrayBuffer(4096);
const grh = { dgid: ctx.defaultGid().gid, sgidIndex: 0, hopLimit: 1 };

/** What each type is made by. */
const types = {
  Context: () => openDevice('soft0'),
  ProtectionDomain: () => ctx.allocPd(),
  CompletionChannel: () => ctx.createCompChannel(),
  CompletionQueue: () => ctx.createCq(16, { channel }),
  'CompletionQueue, extended': () => ctx.createCq(16, { wcFlags: 0xff }),
  'MemoryRegion, allocMr': () => pd.allocMr(4096, AccessFlags.LOCAL_WRITE),
  'MemoryRegion, regMr': () => pd.regMr(shared, AccessFlags.LOCAL_WRITE),
  MemoryWindow: () => pd.allocMw(MwType.TYPE_2),
  DeviceMemory: () => ctx.allocDm(64),
  ThreadDomain: () => ctx.allocTd(),
  XrcDomain: () => ctx.openXrcd(),
  SharedReceiveQueue: () => pd.createSrq({ maxWr: 16 }),
  AddressHandle: () => pd.createAh({ portNum: 1, grh }),
  'QueuePair, RC': () => pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap }),
  'QueuePair, UD': () => pd.createQp({ qpType: QpType.UD, sendCq: cq, recvCq: cq, cap }),
};

/** Lets the collector and the finalizers do all that they have to do. */
async function settle() {
  for (let i = 0; i < 4; i++) {
    globalThis.gc?.();
    await turn();
  }
}

// A function of its own: its frame, which holds the object, is gone afterwards.
/** @param {() => { close(): void }} make */
function once(make) {
  const made = make();
  if (!options.collect) made.close();
}

/** @param {() => { close(): void }} make @param {number} count */
async function repeat(make, count) {
  for (let i = 0; i < count; i++) {
    once(make);
    // Finalizers run between turns of the loop.
    if (i % 1000 === 999) {
      if (options.collect) globalThis.gc?.();
      await turn();
    }
  }
  await settle();
}

/** @param {() => { close(): void }} make */
async function measure(make) {
  const before = { objects: objectCounts(), bytes: process.memoryUsage.rss() };
  const since = process.hrtime.bigint();
  await repeat(make, cycles);
  const microseconds = Number(process.hrtime.bigint() - since) / 1000 / cycles;
  const left = Object.entries(objectCounts()).filter(([name, count]) => count !== before.objects[name]);
  const bytesPerCycle = Math.max(0, process.memoryUsage.rss() - before.bytes) / cycles;
  const flat = left.length === 0 && bytesPerCycle * cycles < SLACK;
  return { microseconds, bytesPerCycle, left, flat };
}

const results = [];
for (const [type, make] of Object.entries(types)) {
  if (options.type !== undefined && options.type !== type) continue;
  // The first cycles bring the heap and the tables to their size.
  await repeat(make, warmUp);
  let measured = await measure(make);
  // The allocator may reach a new height once, late in a long run. What leaks goes on growing.
  if (!measured.flat) measured = await measure(make);
  const { microseconds, bytesPerCycle, left, flat } = measured;
  results.push({ type, cycles, microseconds, bytesPerCycle, left: Object.fromEntries(left), flat });
  if (!options.json) {
    const text = `${microseconds.toFixed(1)} us a cycle, ${bytesPerCycle.toFixed(1)} bytes more a cycle`;
    console.log(
      `${flat ? 'flat ' : 'LEAKS'} ${type}: ${text}${left.length > 0 ? `, left: ${JSON.stringify(left)}` : ''}`,
    );
  }
}
if (options.json) console.log(JSON.stringify(results, undefined, 2));
if (results.length === 0) {
  console.error(`leaks: no type ${options.type}; there are ${Object.keys(types).join('; ')}`);
  process.exitCode = 2;
} else if (results.some(({ flat }) => !flat)) {
  process.exitCode = 1;
}
ctx.close();
