// What the sequences of @verbs/doca-comm have besides: two sides, which are devices and what is made on them, and services.
import { World } from '../../../../core/test/programs/hostile/world.mjs';

const KINDS = [
  ...['Device', 'Representor', 'Server', 'Client', 'Connection', 'Consumer', 'Producer', 'Mmap', 'Endpoint'],
  'PeerAddr',
];
const PCI = '5f5f:3b:00.0';

export class DocaWorld extends World {
  api;
  /** Names of services, which no other sequence has. */
  services = [];
  /** What waits for a promise that `closeOne` has got; the sequence puts it here. */
  absorb = () => undefined;
  #prefix;

  constructor(api, random, index) {
    super(
      KINDS.map((kind) => [kind, api[kind]]),
      random,
    );
    this.api = api;
    this.#prefix = `hostile ${index}`;
  }

  get ownValues() {
    return {
      forgery: () => this.#forgery(),
      view: () => this.view(),
      wrongDevice: () => this.object('Device'),
      pci: () => PCI,
    };
  }
  usedBuffer() {
    return this.object('Mmap')?.buffer;
  }

  closeOne(object) {
    const how = this.random.pick(['close', 'close', 'closeAsync', 'disconnect', Symbol.dispose, Symbol.asyncDispose]);
    const method = object?.[how] ?? object?.close;
    if (typeof method !== 'function') return undefined;
    const text = `${this.text(object)}.${method.name}()`;
    this.absorb(`a close: ${text}`, object, Reflect.apply(method, object, []));
    return text;
  }

  newService() {
    this.services.push(`${this.#prefix} ${this.services.length}`);
    return this.services.at(-1);
  }
  /** Mostly one that is there. */
  service() {
    return this.random.oneIn(12) || this.services.length === 0 ? 'hostile nobody' : this.random.pick(this.services);
  }

  /** The options of a device: mostly of the right side. */
  onDpu() {
    const deviceRep = this.object('Representor');
    return { device: this.random.oneIn(8) ? this.object('Device') : deviceRep?.device, deviceRep };
  }
  onHost() {
    const hosts = (this.pools.get('Device') ?? []).filter(({ info }) => !info.hasRepresentors);
    return { device: hosts.length === 0 || this.random.oneIn(8) ? this.object('Device') : this.random.pick(hosts) };
  }

  /** A view of memory that a transfer can have: mostly all right, for the fast path. */
  view(mmap = this.object('Mmap')) {
    const length = mmap?.buffer.byteLength ?? 0;
    const offset = this.random.below(2) * this.random.below(length + 1);
    return mmap === undefined
      ? new Uint8Array(64)
      : new Uint8Array(mmap.buffer, offset, this.random.below(length - offset + 1));
  }

  /** An object with the inner fields of others, right or wrong. */
  #forgery() {
    const { random } = this;
    const [real, other] = [this.anyResource(), this.anyResource()];
    // A copy, since all devices have the one that there is, and mutations go into it.
    const library = other?.library && { ...other.library, comch: { ...other.library.comch }, missing: {} };
    return {
      handle: random.pick([real?.handle, other?.handle, other?.created?.handle, {}]),
      library: random.pick([library, {}, undefined]),
      device: random.oneIn(2) ? other : real?.device,
      info: random.pick([{ ...real?.info }, {}]),
      endpoint: random.pick([real?.endpoint, other]),
      number: random.pick([real?.number, 1, -1, 2 ** 32]),
      pciAddr: random.pick([PCI, 'x', 5]),
      connected: true,
    };
  }
}
