// Good arguments for the calls of devices and of Comch's own objects. What a sequence does with them is not good.
import { inspect } from 'node:util';

export const waiting = (w) => (w.random.oneIn(2) ? [w.signal()] : []);
const buffer = (w, size) => new Uint8Array(size).fill(w.random.below(256));
/** The longest messages are 4080 bytes, as long as nobody has set another length. */
export const message = (w) =>
  w.random.oneIn(3) ? new Uint8Array(w.random.pick(w.buffers)) : buffer(w, w.random.pick([0, 1, 64, 100, 4080, 4081]));
const immediate = (w) => w.random.pick([undefined, undefined, buffer(w, 1), buffer(w, 32), buffer(w, 33)]);
const consumer = (w) => {
  const known = (w.pools.get('Connection') ?? []).flatMap(({ consumers }) => consumers);
  return known.length === 0 || w.random.oneIn(8) ? w.random.below(4) : w.random.pick(known);
};
export const sizes = (w, names) =>
  Object.fromEntries(
    names.filter(() => w.random.oneIn(6)).map((name) => [name, w.random.pick([1, 2, 16, 64, 1000, 4080, 2 ** 31 - 1])]),
  );
const COMCH_SIZES = ['maxMsgSize', 'recvQueueSize', 'sendTasks'];
const tasks = (w) => (w.random.oneIn(3) ? { tasks: w.random.pick([1, 2, 64, 1024]) } : {});
const device = (w) => w.object('Device');
const description = (w) => w.random.pick(['doca_dpu0', 'doca_host0', { ...w.object('Device')?.info }]);
const api = (w) => w.random.pick([{ api: 'comch' }, { api: 'comch' }, { api: 'comm-channel' }]);

/** Faults that the calls themselves tell. */
const FAULTS = [
  'allocate:1',
  'create_queue:1:ENOMEM',
  'register_memory:1',
  'open_device:1',
  'registry:1',
  'post_send:3',
];

export const comchCalls = {
  allocMmap: (w) => [device(w), w.random.pick([1, 4096, 8192, 65536]), ...w.random.pick([[], [], [33], [0], [127]])],
  listDevices: () => [],
  listRepresentors: (w) => [device(w), ...w.random.pick([[], [0], [2]])],
  openDevice: (w) => [description(w), api(w)],
  openRepresentor: (w) => [device(w), w.random.pick(['5f5f:3b:00.0', { ...w.object('Representor')?.info }])],
  probeLibraries: () => [],
  setFaults: (w) => [w.random.pick([null, null, w.random.pick(FAULTS)])],
  statusName: (w) => [w.random.below(40)],
  unavailableReason: (w) => [w.random.pick(['soft', 'system'])],
  vendorLibrary: () => [],
  'new DocaError': (w) => [w.random.below(32), 'doca_pe_create', ...w.random.pick([[], ['a hint']])],

  'Device.capabilities': () => [],

  'new Server': (w) => [{ ...w.onDpu(), name: w.newService(), ...sizes(w, COMCH_SIZES) }],
  'new Client': (w) => [{ ...w.onHost(), name: w.service(), ...sizes(w, COMCH_SIZES) }],
  'Server.accept': waiting,
  'Server.[Symbol.asyncIterator]': () => [],
  'Client.connect': waiting,

  'Connection.trySend': (w) => [message(w)],
  'Connection.send': (w) => [message(w), ...waiting(w)],
  'Connection.poll': () => [],
  'Connection.receive': waiting,
  'Connection.[Symbol.asyncIterator]': () => [],
  'Connection.nextConsumer': waiting,
  'Connection.createConsumer': (w) => [{ mmap: w.object('Mmap'), ...tasks(w) }],
  'Connection.createProducer': (w) => w.random.pick([[], [tasks(w)]]),
  'Connection.counters': () => [],
  'Connection.disconnect': () => [],

  'Consumer.post': (w) => [w.view(w.random.oneIn(2) ? w.object('Consumer')?.mmap : undefined)],
  'Consumer.poll': () => [],
  'Consumer.receive': waiting,
  'Consumer.[Symbol.asyncIterator]': () => [],
  'Producer.trySend': (w) => [w.view(), consumer(w), immediate(w)],
  'Producer.send': (w) => [w.view(), consumer(w), immediate(w), ...waiting(w)],
};

/** Members of several classes. */
export const commonCalls = {
  progress: () => [],
  close: () => [],
  closeAsync: () => [],
  '[Symbol.dispose]': () => [],
  '[Symbol.asyncDispose]': () => [],
  '[inspect.custom]': (w) => [w.random.pick([-1, 0, 2]), w.random.pick([{}, { depth: 3 }, { colors: true }]), inspect],
};
