import { isIP } from 'node:net';

export const TUNNELS = ['vxlan', 'geneve', 'gre', 'nvgre', 'mplsoudp', 'gtpu'] as const;
export type Tunnel = (typeof TUNNELS)[number];

/** The payload of a tunnel: whole Ethernet frames, or IP packets. */
export type Carried = 'l2' | 'l3';

/** The number of a tunnel: VNI, VSID, label, TEID or key. */
interface Identity {
  name: string;
  bits: number;
  required: boolean;
}

const IDENTITIES: Readonly<Record<Tunnel, Identity>> = {
  vxlan: { name: 'vni', bits: 24, required: true },
  geneve: { name: 'vni', bits: 24, required: true },
  gre: { name: 'key', bits: 32, required: false },
  nvgre: { name: 'vsid', bits: 24, required: true },
  mplsoudp: { name: 'label', bits: 20, required: true },
  gtpu: { name: 'teid', bits: 32, required: true },
};

const CARRIED: Readonly<Record<Tunnel, readonly Carried[]>> = {
  vxlan: ['l2'],
  geneve: ['l2', 'l3'],
  gre: ['l2', 'l3'],
  nvgre: ['l2'],
  mplsoudp: ['l3'],
  gtpu: ['l3'],
};

export interface EncapSpec {
  tunnel: Tunnel;
  carried: Carried;
  /** VNI, VSID, label, TEID or key. */
  id: number | undefined;
  src: string;
  dst: string;
  /** Default: those of the frame. */
  dmac: string | undefined;
  smac: string | undefined;
  vlan: number | undefined;
  ttl: number | undefined;
  tos: number | undefined;
}

export interface DecapSpec {
  tunnel: Tunnel;
  carried: Carried;
  /** Only this VNI, VSID, label, TEID or key. */
  id: number | undefined;
  /** Of a tunnel that carries IP packets: the MAC header that they get. */
  mac: { dmac: string; smac: string; vlan: number | undefined } | undefined;
}

/** A wrong text of `--encap` or `--decap`. */
export class SpecError extends Error {
  override name = 'SpecError';
}

/**
 * `vxlan,vni=42,src=10.1.0.1,dst=10.1.0.2`
 *
 * @throws SpecError
 */
export function parseEncap(text: string): EncapSpec {
  const options = new Options(text, ['src', 'dst', 'dmac', 'smac', 'vlan', 'ttl', 'tos']);
  const { tunnel } = options;
  const [src, dst] = [options.address('src'), options.address('dst')];
  if (isIP(src) !== isIP(dst)) throw new SpecError(`src=${src} and dst=${dst} are not of one IP version`);
  return {
    tunnel,
    carried: options.carried,
    id: options.identity(IDENTITIES[tunnel].required),
    src,
    dst,
    dmac: options.mac('dmac'),
    smac: options.mac('smac'),
    vlan: options.number('vlan', 4095),
    ttl: options.number('ttl', 255),
    tos: options.number('tos', 255),
  };
}

/**
 * `vxlan`, `vxlan,vni=42`, or `gre,l3,dmac=02:00:00:00:00:02,smac=02:00:00:00:00:01`
 *
 * @throws SpecError
 */
export function parseDecap(text: string): DecapSpec {
  const options = new Options(text, ['dmac', 'smac', 'vlan']);
  const { tunnel, carried } = options;
  const id = options.identity(false);
  const [dmac, smac, vlan] = [options.mac('dmac'), options.mac('smac'), options.number('vlan', 4095)];
  if (carried === 'l2') {
    if ((dmac ?? smac ?? vlan) !== undefined) {
      throw new SpecError(
        `dmac=, smac= and vlan= are for tunnels of IP packets, and "${text}" carries Ethernet frames`,
      );
    }
    return { tunnel, carried, id, mac: undefined };
  }
  if (dmac === undefined || smac === undefined) {
    throw new SpecError(`"${text}" needs dmac= and smac=, the Ethernet header for the packets that it carries`);
  }
  return { tunnel, carried, id, mac: { dmac, smac, vlan } };
}

/** The parts of the comma-separated text. */
class Options {
  readonly tunnel: Tunnel;
  readonly carried: Carried;
  readonly #text: string;
  readonly #values = new Map<string, string>();

  constructor(text: string, names: readonly string[]) {
    const [first = '', ...rest] = text.split(',');
    const tunnel = TUNNELS.find((name) => name === first);
    if (tunnel === undefined) throw new SpecError(`"${first}" is no tunnel: there are ${TUNNELS.join(', ')}`);
    this.#text = text;
    this.tunnel = tunnel;
    const known = [IDENTITIES[tunnel].name, ...names];
    let carried = CARRIED[tunnel][0];
    for (const option of rest) {
      const layer = CARRIED[tunnel].find((name) => name === option);
      if (layer !== undefined) carried = layer;
      else this.#add(option, known);
    }
    this.carried = carried ?? 'l2';
  }

  #add(option: string, known: readonly string[]): void {
    const [, name, value] = /^([^=]*)=(.*)$/.exec(option) ?? [];
    if (name === undefined || value === undefined || !known.includes(name)) {
      const layers = CARRIED[this.tunnel].length > 1 ? ', l2 or l3' : '';
      throw new SpecError(`"${option}" is no option of ${this.tunnel}: there are ${known.join('=, ')}=${layers}`);
    }
    if (this.#values.has(name)) throw new SpecError(`${name}= is there twice in "${this.#text}"`);
    this.#values.set(name, value);
  }

  identity(required: boolean): number | undefined {
    const { name, bits } = IDENTITIES[this.tunnel];
    const id = this.number(name, 2 ** bits - 1);
    if (id === undefined && required) throw new SpecError(`"${this.#text}" needs ${name}=`);
    return id;
  }

  number(name: string, max: number): number | undefined {
    const text = this.#values.get(name);
    if (text === undefined) return undefined;
    const value = /^(0x[\da-f]+|\d+)$/i.test(text) ? Number(text) : NaN;
    if (!(value <= max)) throw new SpecError(`${name}=${text} is no number from 0 to ${max}`);
    return value;
  }

  address(name: string): string {
    const text = this.#values.get(name);
    if (text === undefined) throw new SpecError(`"${this.#text}" needs ${name}=, an IPv4 or IPv6 address`);
    // An address of a link with its interface, fe80::1%eth0, is one for this machine only.
    if (isIP(text) === 0 || text.includes('%')) throw new SpecError(`${name}=${text} is no IPv4 or IPv6 address`);
    return text;
  }

  mac(name: string): string | undefined {
    const text = this.#values.get(name);
    if (text !== undefined && !/^[\da-f]{2}(:[\da-f]{2}){5}$/i.test(text)) {
      throw new SpecError(`${name}=${text} is no MAC address such as 02:00:00:00:00:01`);
    }
    return text;
  }
}
