import type { QpState } from '../enums/index.js';
import type { QpAttr } from '../types/qp-attr.js';

/** A type of queue pair with states of its own. */
export type TypeName = 'RC' | 'UC' | 'UD' | 'RAW_PACKET' | 'XRC_SEND' | 'XRC_RECV';
type StateName = keyof typeof QpState;
type Names = readonly (keyof QpAttr)[];

const BASIS = ['pkeyIndex', 'portNum'] as const;
const PEER = ['ahAttr', 'pathMtu', 'destQpNum', 'rqPsn'] as const;
const REQUESTS = ['timeout', 'retryCnt', 'rnrRetry', 'maxRdAtomic'] as const;
const ANSWERS = ['maxDestRdAtomic', 'minRnrTimer'] as const;
const ALT_PATH = ['altAhAttr', 'altPkeyIndex', 'altPortNum', 'altTimeout'] as const;
const ALTERNATE = [...ALT_PATH, 'pathMigState'] as const;
const RUNNING = ['curQpState', 'qpAccessFlags', ...ALTERNATE] as const;
const DRAINED = ['ahAttr', 'qpAccessFlags', 'pkeyIndex', ...ALTERNATE] as const;
const DATAGRAM = ['curQpState', 'qkey'] as const;

/**
 * The fields that each step from RESET to RTS needs, by the type of the queue pair (IBTA 11.2.5.2, tables 91 and 92). The
 * compiler and the errors of `modify` read the same table.
 */
export const NEEDED = {
  INIT: {
    RC: [...BASIS, 'qpAccessFlags'],
    UC: [...BASIS, 'qpAccessFlags'],
    XRC_SEND: [...BASIS, 'qpAccessFlags'],
    XRC_RECV: [...BASIS, 'qpAccessFlags'],
    UD: [...BASIS, 'qkey'],
    RAW_PACKET: ['portNum'],
  },
  RTR: { RC: [...PEER, ...ANSWERS], UC: PEER, XRC_SEND: PEER, XRC_RECV: [...PEER, ...ANSWERS], UD: [], RAW_PACKET: [] },
  RTS: {
    RC: ['sqPsn', ...REQUESTS],
    UC: ['sqPsn'],
    XRC_SEND: ['sqPsn', ...REQUESTS],
    XRC_RECV: ['sqPsn', 'timeout'],
    UD: ['sqPsn'],
    RAW_PACKET: [],
  },
} as const satisfies Record<string, Record<TypeName, Names>>;

const CONNECTED: readonly TypeName[] = ['RC', 'UC', 'XRC_SEND', 'XRC_RECV'];
const ANSWERING: readonly TypeName[] = ['RC', 'XRC_RECV'];
const PLAIN: readonly TypeName[] = ['UC', 'XRC_SEND'];

/** The fields that each step may have beside those that it needs. A step that is in no line is not possible. */
const OPTIONAL: readonly (readonly [from: StateName, to: StateName, types: readonly TypeName[], fields: Names])[] = [
  ['RESET', 'INIT', [...CONNECTED, 'UD', 'RAW_PACKET'], []],
  ['INIT', 'INIT', CONNECTED, [...BASIS, 'qpAccessFlags']],
  ['INIT', 'INIT', ['UD'], [...BASIS, 'qkey']],
  ['INIT', 'INIT', ['RAW_PACKET'], []],
  ['INIT', 'RTR', CONNECTED, [...ALT_PATH, 'qpAccessFlags', 'pkeyIndex']],
  ['INIT', 'RTR', ['UD'], ['pkeyIndex', 'qkey']],
  ['INIT', 'RTR', ['RAW_PACKET'], []],
  ...(['RTR', 'RTS', 'SQD'] as const).flatMap((from) => [
    [from, 'RTS', ANSWERING, [...RUNNING, 'minRnrTimer']] as const,
    [from, 'RTS', PLAIN, RUNNING] as const,
    [from, 'RTS', ['UD'] as const, DATAGRAM] as const,
    [from, 'RTS', ['RAW_PACKET'] as const, from === 'SQD' ? [] : ['rateLimit' as const]] as const,
  ]),
  ['RTS', 'SQD', [...CONNECTED, 'UD'], ['enSqdAsyncNotify']],
  ['RTS', 'SQD', ['RAW_PACKET'], []],
  ['SQD', 'SQD', ['RC'], [...DRAINED, 'portNum', ...REQUESTS, ...ANSWERS]],
  ['SQD', 'SQD', ['XRC_SEND'], [...DRAINED, 'portNum', ...REQUESTS]],
  ['SQD', 'SQD', ['XRC_RECV'], [...DRAINED, 'portNum', 'timeout', ...ANSWERS]],
  ['SQD', 'SQD', ['UC'], DRAINED],
  ['SQD', 'SQD', ['UD'], ['pkeyIndex', 'qkey']],
  ['SQD', 'SQD', ['RAW_PACKET'], []],
  ['SQE', 'RTS', ['UC'], ['curQpState', 'qpAccessFlags']],
  ['SQE', 'RTS', ['UD'], DATAGRAM],
  ['SQE', 'RTS', ['RC', 'XRC_SEND', 'XRC_RECV', 'RAW_PACKET'], []],
];

/** What the kernel drops of the fields of one half of an XRC connection before it checks the rest. */
const IGNORED: Partial<Record<TypeName, Names>> = {
  XRC_SEND: ANSWERS,
  XRC_RECV: ['retryCnt', 'rnrRetry', 'maxRdAtomic'],
};

/** The fields of a step. */
export interface StepFields {
  /** It needs all of them. */
  needed: Names;
  /** It may have these, too. */
  optional: Names;
}

/** The fields of the step of a type between two states, all by their names; undefined where there is no such step. */
export function stepFields(type: string, from: string, to: string): StepFields | undefined {
  if (to === 'RESET' || (to === 'ERR' && from !== 'RESET')) return { needed: [], optional: [] };
  const row = OPTIONAL.find(([a, b, types]) => a === from && b === to && types.includes(type as TypeName));
  if (row === undefined) return undefined;
  const first = (to === 'INIT' && from === 'RESET') || to === 'RTR' || (to === 'RTS' && from === 'RTR');
  const needed: Names = first ? NEEDED[to][type as TypeName] : [];
  return { needed, optional: [...row[3], ...(IGNORED[type as TypeName] ?? [])] };
}
