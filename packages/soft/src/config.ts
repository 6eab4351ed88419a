import { onlyFields, show, typeError, valueError } from './arguments.js';
import { type FaultRule, ruleText } from './fault-rules.js';

/** The limits of a device, as `ibv_query_device` reports them. A limit that is not given has its default. */
export interface DeviceLimits {
  /** Queue pairs: 1 to 2^20, the default. */
  maxQp?: number;
  /** Outstanding requests of a queue: 1 to 2^20, default 2^15. */
  maxQpWr?: number;
  /** Elements of a request: 1 to 32, the default. */
  maxSge?: number;
  /** Elements of an RDMA_READ: 1 to 32, the default. */
  maxSgeRd?: number;
  /** Bytes of inline data (SendFlags.INLINE): 0 to 512, the default. */
  maxInlineData?: number;
  /** Completion queues: 1 to 2^20, the default. */
  maxCq?: number;
  /** Entries of a completion queue: 1 to 2^20, the default. */
  maxCqe?: number;
  /** Memory regions: 1 to 2^19 - 1, the default. */
  maxMr?: number;
  /** Protection domains: 1 to 2^20, the default. */
  maxPd?: number;
  /** Address handles: 1 to 2^20, the default. */
  maxAh?: number;
  /** Outstanding reads and atomics of a queue pair as responder: 1 to 128, the default. */
  maxQpRdAtom?: number;
  /** Outstanding reads and atomics of a queue pair as requester: 1 to 128, the default. */
  maxQpInitRdAtom?: number;
  /** Memory windows: 1 to 2^19 - 1, the default. */
  maxMw?: number;
  /** Shared receive queues: 1 to 2^20, the default. */
  maxSrq?: number;
  /** Outstanding requests of a shared receive queue: 1 to 2^20, default 2^15. */
  maxSrqWr?: number;
  /** Elements of a request of a shared receive queue: 1 to 32, the default. */
  maxSrqSge?: number;
  /** Multicast groups: 0 to 2^20, default 8192. */
  maxMcastGrp?: number;
  /** Queue pairs in one multicast group: 0 to 2^20, default 56. */
  maxMcastQpAttach?: number;
  /** Bytes of device memory: 0 to 2^30, default 2^18. */
  maxDmSize?: number;
  /** Bytes of a message: 1 to 2^31, the default. */
  maxMsgSize?: number;
}

/** The limits of a capture. */
export interface CaptureOptions {
  /** The capture ends before its file has more bytes; 0, the default, is no limit. */
  maxBytes?: number | bigint;
  /** Bytes kept of each frame; 0, the default, keeps all. */
  snapLength?: number;
}

/** Their names. */
export const CAPTURE_OPTIONS: readonly (keyof CaptureOptions)[] = ['maxBytes', 'snapLength'];

/**
 * One device of the software NIC. Only the name is needed. A member of another name goes into the text as it is, as an
 * option of the NIC or of the model, and `configure()` refuses what neither knows.
 */
export interface DeviceConfig {
  /** Up to 63 letters, digits and the characters `_ - .`; unique. */
  name: string;
  /** 'roce', or the kind of a vendor's model ('mlx5', 'hbl'). */
  kind?: string;
  /** Path of the library with the model of `kind`, if the program does not load the model. */
  model?: string;
  /** IPv4 and IPv6 addresses of this machine. Without one: the first free of 127.0.0.1 … 127.0.0.254. */
  addr?: string | readonly string[];
  /** 1 to 63, default 1; vendor models may have other defaults. */
  ports?: number;
  /** The initial MTU of the ports: bytes of a packet's payload, default 4096. */
  mtu?: 256 | 512 | 1024 | 2048 | 4096;
  /** The initial state of the ports' links, default 'up'. */
  state?: 'up' | 'down';
  /**
   * How packets travel. 'auto', the default: direct within the process, shared memory to other processes of the same user
   * on this host, and UDP to everything else. 'shm': as 'auto', but shared memory within the process, too. 'udp': always
   * UDP. 'process': only within the process.
   */
  link?: 'auto' | 'shm' | 'udp' | 'process';
  /**
   * Peers that are no software NICs of this project (the kernel's soft-RoCE, adapters): addresses, networks such as
   * '10.0.0.0/24' and 'fd00::/64', or '*' for every peer. They choose the source ports and the IPv4 identifications of
   * their packets. 'none': no peer. Default: all peers on other hosts.
   */
  foreign?: string | readonly string[];
  /**
   * Where adapters and the kernel's soft-RoCE differ: 'mlx5' (the default) or 'rxe'. With the first a request takes its slot
   * of a work queue until its completion was polled, with the other until it was executed; which errors come when differs
   * too. Not of devices with a model, which behave as their adapter does.
   */
  profile?: 'mlx5' | 'rxe';
  /**
   * The order of the GID table, for programs that know the entries of a kind of device by their index. 'plain', the default:
   * the addresses. 'rxe': a link-local address before them. 'mlx5': as 'rxe', and each twice, for RoCE v1 and then for RoCE
   * v2, so that the first address has index 3. No packet leaves from the entries for RoCE v1 and of link-local addresses.
   */
  gids?: 'plain' | 'rxe' | 'mlx5';
  /**
   * True fails what goes wrong unseen on adapters: flow labels above 20 bits and a dlid in address vectors, memory that was
   * mapped anew under a region, wrong local keys of READ and atomics before the peer executes them. Raw packets and flows then
   * need CAP_NET_RAW, as in the kernel, but for devices with a model. Default false.
   */
  strict?: boolean;
  /**
   * The Ethernet switch of the ports, for devices with raw packets: a name joins the ports of this process with the same
   * name. All devices without a name share one switch.
   */
  switch?: string;
  /**
   * The name of a network interface of the kernel (TAP) that the device creates at its switch and removes when it closes.
   * Needs CAP_NET_ADMIN and a device with raw packets and one port.
   */
  tap?: string;
  /** See {@link DeviceLimits}. */
  limits?: DeviceLimits;
  /** The path of a pcapng file; `%p` is the process id, `%d` the device's name. */
  capture?:
    | string
    | ({
        /** The file. */
        path: string;
      } & CaptureOptions);
  /** One rule, or several. */
  faults?: FaultRule | readonly FaultRule[];
  /** The seed of the faults, default 1: with the same seed, the same frames meet the same faults. */
  seed?: number | bigint;
  /** Options that only the model knows. */
  options?: Readonly<Record<string, string | number | boolean>>;
}

/**
 * The configuration text of devices, for the variable VERBS_SOFT.
 *
 * @throws TypeError, RangeError that name the field.
 * @example
 * configurationText([{ name: 'soft0', mtu: 1024, faults: { drop: 0.02 }, seed: 7 }])
 * // 'soft0,mtu=1024,seed=7,fault=drop=0.02'
 */
export function configurationText(devices: readonly DeviceConfig[]): string {
  if (!Array.isArray(devices)) {
    throw typeError('devices', `expected an array of devices or their text, got ${show(devices)}`);
  }
  return (devices as readonly DeviceConfig[]).map(deviceText).join(';');
}

/**
 * The text of a fault plan, for `verbs run --faults`.
 *
 * @throws TypeError, RangeError that name the field of a rule.
 * @example
 * faultText({ drop: true, opcode: 'RC SEND Only', nth: 3 }, 7); // 'fault=drop:opcode=rc_send_only:nth=3,seed=7'
 */
export function faultText(rules: FaultRule | readonly FaultRule[], seed?: number | bigint): string {
  return join([...faultPairs(rules), ['seed', seed]]);
}

function faultPairs(rules: FaultRule | readonly FaultRule[]): [string, unknown][] {
  if (!Array.isArray(rules)) return [['fault', ruleText(rules as FaultRule)]];
  return (rules as readonly FaultRule[]).map((rule, i) => ['fault', ruleText(rule, `rules[${i.toString()}]`)]);
}

function deviceText(device: DeviceConfig | null, i: number): string {
  if (typeof device !== 'object' || device === null) {
    throw typeError(`devices[${i.toString()}]`, `expected an object, got ${show(device)}`);
  }
  const { name, addr, foreign, strict, limits, capture, faults, options, ...plain } = device;
  if (typeof name !== 'string' || name === '') {
    throw typeError('name', 'every device needs a name, such as "soft0"');
  }
  if (!/^[\w.-]{1,63}$/.test(name)) {
    throw valueError('name', `expected up to 63 letters, digits and the characters _ - ., got ${show(name)}`);
  }
  const pairs: [string, unknown][] = Object.entries(plain);
  for (const address of listText('addr', addr ?? [])) pairs.push(['addr', address]);
  if (foreign !== undefined) pairs.push(['foreign', listText('foreign', foreign).join('|')]);
  if (strict !== undefined) pairs.push(['strict', flag('strict', strict)]);
  if (typeof capture === 'string') pairs.push(['capture', capture]);
  else if (capture !== undefined) {
    onlyFields('capture', capture, ['path', ...CAPTURE_OPTIONS]);
    pairs.push(['capture', capture.path], ['capture_limit', capture.maxBytes], ['snap', capture.snapLength]);
  }
  for (const [key, value] of Object.entries(limits ?? {})) pairs.push([snakeCase(key), value]);
  pairs.push(...faultPairs(faults ?? []), ...Object.entries(options ?? {}));
  const text = join(pairs);
  return text === '' ? name : `${name},${text}`;
}

function listText(name: string, value: string | readonly string[]): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value as readonly string[];
  throw typeError(name, `expected a string or an array of them, got ${show(value)}`);
}

function flag(name: string, value: unknown): number {
  if (typeof value !== 'boolean') throw typeError(name, `expected true or false, got ${show(value)}`);
  return Number(value);
}

function join(pairs: readonly [string, unknown][]): string {
  const given = pairs.filter(([, value]) => value !== undefined);
  for (const [key] of given) {
    if (!/^\w+$/.test(key))
      throw valueError(key, 'this is no name of an option: those have letters, digits and _ only');
  }
  return given.map(([key, value]) => `${key}=${escape(key, value)}`).join(',');
}

function escape(key: string, value: unknown): string {
  if (!['string', 'number', 'bigint', 'boolean'].includes(typeof value)) {
    throw typeError(key, `expected a string or number, got ${value === null ? 'null' : typeof value}`);
  }
  const text = decimal(value as string | number | bigint | boolean);
  if (/[\r\n]/.test(text)) throw valueError(key, 'a value cannot hold a line end');
  // A percent sign needs an escape only where it would begin one.
  const escapes: Record<string, string> = { ',': '%2C', ';': '%3B', '#': '%23' };
  return text.replace(/%(?=2C|3B|23|25)/gi, '%25').replace(/[,;#]/g, (character) => escapes[character] ?? character);
}

/** String() would write large seeds with an exponent. */
function decimal(value: string | number | bigint | boolean): string {
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value).toString() : String(value);
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
