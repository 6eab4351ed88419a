import type { Fields } from '@verbs/lib/rendezvous';
import { Failure } from '@verbs/lib/failure';

export const KINDS = ['lat', 'bw'] as const;
export const OPERATIONS = ['send', 'write', 'read', 'atomic'] as const;
export const TRANSPORTS = ['RC', 'UC', 'UD'] as const;
export const ATOMICS = ['fetch-and-add', 'cmp-and-swap'] as const;

export type Kind = (typeof KINDS)[number];
export type Operation = (typeof OPERATIONS)[number];
export type Transport = (typeof TRANSPORTS)[number];
export type Atomic = (typeof ATOMICS)[number];

/** The plan of a measurement. The client decides and sends it to the server. */
export interface Plan {
  kind: Kind;
  operation: Operation;
  transport: Transport;
  atomic: Atomic;
  /** Bytes of a message, one measurement for each. */
  sizes: readonly number[];
  /** Messages of a measurement. */
  iterations: number;
  /** Messages that are on their way at a time, of a bandwidth. */
  depth: number;
  /** Requests that go to one post call, of a bandwidth; at most `depth`. */
  list: number;
  /** Both ends post at the same time, of a bandwidth without receive requests; the rates are added. */
  bidirectional: boolean;
}

/** As perftest: 2, 4, 8, … up to that. */
export const MAX_SIZE = 1 << 23;
export const MAX_DEPTH = 1024;
export const MAX_ITERATIONS = 10_000_000;
export const ATOMIC_BYTES = 8;

/** Which operations a transport has. */
const CARRIES: Record<Transport, readonly Operation[]> = {
  RC: OPERATIONS,
  UC: ['send', 'write'],
  UD: ['send'],
};

/** @throws Failure for a combination that cannot be measured */
export function checkPlan({ kind, operation, transport, sizes, depth, list, bidirectional }: Plan): void {
  if (bidirectional && (kind !== 'bw' || operation === 'send'))
    throw new Failure('--bidirectional is for bw write, read and atomic', { exitCode: 2 });
  if (!CARRIES[transport].includes(operation)) {
    const known = CARRIES[transport].join(', ');
    throw new Failure(`${transport} has no ${operation}: it carries ${known}`, { exitCode: 2 });
  }
  if (operation === 'atomic' && sizes.some((size) => size !== ATOMIC_BYTES))
    throw new Failure('an atomic operation is about 8 bytes: leave --size and --all out', { exitCode: 2 });
  if (list > depth) throw new Failure(`--list ${list} is more than --tx-depth ${depth}`, { exitCode: 2 });
}

/** 2, 4, 8, … up to `max`. */
export function sweep(max: number): number[] {
  const sizes = [];
  for (let size = 2; size <= max; size *= 2) sizes.push(size);
  return sizes;
}

/** A run of messages of one size, which both ends begin and end together. */
export interface Phase {
  bytes: number;
  count: number;
  /** False for the warm-up of compiler and caches. */
  measured: boolean;
}

export function phases({ kind, sizes, iterations }: Plan): Phase[] {
  return sizes.flatMap((bytes, index) => {
    const first = kind === 'lat' ? 2000 : 5000;
    return [
      { bytes, count: index === 0 ? first : 10, measured: false },
      { bytes, count: iterations, measured: true },
    ];
  });
}

/** Reads the peer's plan, which is not trusted. */
export function readPlan(fields: Fields): Plan {
  const plan = {
    kind: choice(fields, 'kind', KINDS),
    operation: choice(fields, 'operation', OPERATIONS),
    transport: choice(fields, 'transport', TRANSPORTS),
    atomic: choice(fields, 'atomic', ATOMICS),
    sizes: fields
      .text('sizes')
      .split(' ')
      .map((size) => whole(size, MAX_SIZE)),
    iterations: fields.integer('iterations', MAX_ITERATIONS),
    depth: fields.integer('depth', MAX_DEPTH),
    list: fields.integer('list', MAX_DEPTH),
    bidirectional: fields.has('bidirectional') && fields.integer('bidirectional', 1) === 1,
  };
  if (plan.iterations === 0 || plan.depth === 0 || plan.list === 0) throw new Error('the client plans nothing');
  checkPlan(plan);
  return plan;
}

export function planMessage(plan: Plan): unknown {
  return { ...plan, sizes: plan.sizes.join(' '), bidirectional: Number(plan.bidirectional) };
}

function choice<T extends string>(fields: Fields, name: string, known: readonly T[]): T {
  const given = fields.text(name);
  const found = known.find((each) => each === given);
  if (found === undefined)
    throw new Error(`the client asks for ${name} "${given}": ${known.join(', ')} are known here`);
  return found;
}

function whole(text: string, max: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > max)
    throw new Error(`the client asks for messages of "${text}" bytes`);
  return value;
}
