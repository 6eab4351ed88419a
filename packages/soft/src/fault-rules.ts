import { natural, rangeError, show, typeError, valueError } from './arguments.js';

/**
 * A rule of a fault plan. The fields are of three groups: which frames match (without such a field, all), which of the
 * matching frames are selected (without such a field, all), and what happens to those (at least one field).
 *
 * Every rule of a plan decides about each frame as it arrives, and the effects of all rules apply. Each rule counts its
 * own matches, including frames that another rule drops, and has its own random numbers.
 *
 * @example
 * const rules: FaultRule[] = [
 *   { drop: true, opcode: 'RC SEND Only', nth: 3 }, // the third SEND of one packet is lost
 *   { drop: 0.02 }, // a frame is lost with a probability of 2 %
 *   { delay: 200, psn: [0x10, 0x1f], direction: 'ingress' }, // these packets arrive 200 µs late
 * ];
 * nic.faults.set(rules);
 */
export interface FaultRule {
  /** Outgoing frames (the default), incoming frames, or both. */
  direction?: 'egress' | 'ingress' | 'both';
  /**
   * The opcode by its name in tshark and IBTA ('RC SEND Only'; case, blanks, `_` and the word RDMA do not matter), by the
   * beginning of several names ('RC READ response', 'UD'), or by number.
   */
  opcode?: string | number | readonly (string | number)[];
  /** The destination queue pair. */
  qpn?: number;
  /** A packet sequence number, or the first and the last of a range, which may wrap at 2^24. */
  psn?: number | readonly [first: number, last: number];
  /** The kind of an acknowledgement: 'rnr' is an RNR NAK, 'nak' any other NAK. */
  aeth?: 'ack' | 'nak' | 'rnr';

  /** The nth matching frame, counted from 1; with `count`, that number of frames from there on. */
  nth?: number;
  /** Every Nth matching frame, from the nth on. */
  every?: number;
  /** The rule applies at most this number of times. */
  count?: number;
  /** The probability of the whole rule, from 0 to 1. */
  probability?: number;

  /** The frame is lost: true, or a probability from 0 to 1. */
  drop?: boolean | number;
  /** The frame is sent twice. */
  duplicate?: boolean | number;
  /** The frame is delayed by `reorderDelay`, so that later frames overtake it. */
  reorder?: boolean | number;
  /** One bit is inverted; the receiver drops the frame because of its ICRC. */
  corrupt?: boolean | number;
  /** The end of the frame is missing. */
  truncate?: boolean | number;
  /** The frame is delayed by this number of microseconds. */
  delay?: number;
  /** And by up to this number of microseconds more, uniformly distributed. */
  jitter?: number;
  /** Microseconds, default 50. */
  reorderDelay?: number;
  /** Frames leave one after the other at this rate. */
  bytesPerSecond?: number;
  /** The same, in frames per second. */
  packetsPerSecond?: number;
}

const MAX_24 = 0xffffffn;
const MAX_COUNT = BigInt(Number.MAX_SAFE_INTEGER);
const MAX_DELAY = 10_000_000n; // ten seconds, in microseconds
const MAX_RATE = 1_000_000_000_000n;

type Write = (name: string, value: unknown) => string | undefined;

const whole =
  (high: bigint, low = 0n): Write =>
  (name, value) =>
    natural(name, numeric(name, value), high, low).toString();

const word =
  (...words: string[]): Write =>
  (name, value) => {
    if (words.includes(value as string)) return value as string;
    throw valueError(name, `expected ${words.map(show).join(', ')}, got ${show(value)}`);
  };

const probability: Write = (name, value) => {
  if (typeof value === 'number' && value >= 0 && value <= 1) return String(value);
  throw rangeError(name, `expected a probability from 0 to 1, got ${show(value)}`);
};

/** True is written as the key without a value; false and undefined are left out. */
const chance: Write = (name, value) => {
  if (typeof value === 'boolean') return value ? '' : undefined;
  if (typeof value === 'number' && value >= 0 && value <= 1) return String(value);
  throw rangeError(name, `expected true or a probability from 0 to 1, got ${show(value)}`);
};

const opcode: Write = (name, value) => {
  const one = (code: unknown): string => {
    if (typeof code === 'number') return natural(name, code, 255n).toString();
    if (typeof code === 'string' && /^[A-Za-z_ -]+$/.test(code)) return code.toLowerCase().replace(/[ -]/g, '_');
    throw typeError(name, `expected names such as "RC SEND Only" or numbers, got ${show(value)}`);
  };
  return Array.isArray(value) ? value.map(one).join('|') : one(value);
};

const psn: Write = (name, value) => {
  if (!Array.isArray(value)) return whole(MAX_24)(name, value);
  if (value.length !== 2) throw valueError(name, `expected a number or [first, last], got ${show(value)}`);
  return value.map((end) => whole(MAX_24)(name, end)).join('-');
};

const fields: Readonly<Record<keyof FaultRule, Write>> = {
  drop: chance,
  duplicate: chance,
  reorder: chance,
  corrupt: chance,
  truncate: chance,
  delay: whole(MAX_DELAY),
  jitter: whole(MAX_DELAY),
  reorderDelay: whole(MAX_DELAY),
  bytesPerSecond: whole(MAX_RATE, 1n),
  packetsPerSecond: whole(MAX_RATE, 1n),
  direction: word('egress', 'ingress', 'both'),
  opcode,
  qpn: whole(MAX_24),
  psn,
  aeth: word('ack', 'nak', 'rnr'),
  nth: whole(MAX_COUNT, 1n),
  every: whole(MAX_COUNT, 1n),
  count: whole(MAX_COUNT, 1n),
  probability,
};

const ACTIONS: readonly (keyof FaultRule)[] = [
  'drop',
  'duplicate',
  'reorder',
  'corrupt',
  'truncate',
  'delay',
  'jitter',
  'bytesPerSecond',
  'packetsPerSecond',
];

/** A rule as the value of the option `fault` in the configuration text: 'drop:opcode=rc_send_only:nth=3'. */
export function ruleText(rule: FaultRule, name = 'rule'): string {
  if (typeof rule !== 'object' || (rule as object | null) === null) {
    throw typeError(name, `expected an object, got ${show(rule)}`);
  }
  const parts: string[] = [];
  let acts = false;
  for (const [key, value] of Object.entries(rule) as [keyof FaultRule, unknown][]) {
    if (value === undefined) continue;
    if (!Object.hasOwn(fields, key)) {
      throw valueError(`${name}.${key}`, `there is no such field; there are ${Object.keys(fields).join(', ')}`);
    }
    const text = fields[key](`${name}.${key}`, value);
    if (text === undefined) continue;
    acts ||= ACTIONS.includes(key);
    parts.push(text === '' ? key : `${snakeCase(key)}=${text}`);
  }
  if (!acts) throw valueError(name, `it does not say what happens to the frames; give one of ${ACTIONS.join(', ')}`);
  return parts.join(':');
}

/** The rule of a configuration text. */
export function parseRule(text: string): FaultRule {
  const rule: Record<string, unknown> = {};
  for (const part of text.split(':')) {
    const [key = '', value] = part.split('=');
    rule[camelCase(key)] = value === undefined ? true : valueOf(key, value);
  }
  return rule;
}

function valueOf(key: string, text: string): unknown {
  if (key === 'direction' || key === 'aeth') return text;
  const values = key === 'opcode' ? text.split('|') : key === 'psn' ? text.split('-') : [text];
  const numbers = values.map((value) => (/^(0x)?[\d.]/i.test(value) ? Number(value) : value));
  return numbers.length === 1 ? numbers[0] : numbers;
}

function numeric(name: string, value: unknown): number {
  if (typeof value === 'number') return value;
  throw typeError(name, `expected a number, got ${show(value)}`);
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
