import type { QpState, QpType } from '../enums/index.js';
import type { NEEDED, TypeName } from '../reasons/steps.js';
import type { QpAttr } from '../types/qp-attr.js';

type States = typeof QpState;
type Types = typeof QpType;
/** The name of a type of queue pair. */
type NameOf<T extends number> = { [Name in TypeName]: Types[Name] extends T ? Name : never }[TypeName];
type Known = Types[TypeName];
type Needed<State extends keyof typeof NEEDED, T extends Known> = (typeof NEEDED)[State][NameOf<T>][number];
type Step<State extends keyof typeof NEEDED, T extends Known> = Omit<QpAttr, 'qpState'> & {
  qpState: States[State];
} & Required<Pick<QpAttr, Needed<State, T>>>;

/** INIT, RTR and RTS, and the other changes of `ibv_modify_qp` to a queue pair of type `T`. */
type Transition<T extends Known> =
  | Step<'INIT', T>
  | Step<'RTR', T>
  | (Step<'RTS', T> & { curQpState?: States['RTR'] })
  | (Omit<QpAttr, 'qpState'> & { qpState: States['RTS']; curQpState: States['RTS' | 'SQD' | 'SQE'] })
  | (Omit<QpAttr, 'qpState'> & { qpState?: States['RESET' | 'SQD' | 'SQE' | 'ERR'] });

interface Modifications {
  [type: number]: QpAttr;
  [QpType.RC]: Transition<typeof QpType.RC>;
  [QpType.UC]: Transition<typeof QpType.UC>;
  [QpType.UD]: Transition<typeof QpType.UD>;
  [QpType.RAW_PACKET]: Transition<typeof QpType.RAW_PACKET>;
  [QpType.XRC_SEND]: Transition<typeof QpType.XRC_SEND>;
  [QpType.XRC_RECV]: Transition<typeof QpType.XRC_RECV>;
}

/**
 * The argument of {@link QueuePair.modify}. For a queue pair whose type the compiler knows, a step from RESET to RTS
 * has the fields that it needs; `curQpState` distinguishes a way back to RTS (from SQD or SQE) from the first one.
 *
 * @example
 * ```ts
 * const cap = { maxSendWr: 16, maxRecvWr: 16 };
 * const qp = pd.createQp({ qpType: QpType.UD, sendCq: cq, recvCq: cq, cap }); // QueuePair<typeof QpType.UD>
 * // @ts-expect-error qkey is missing
 * qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1 });
 * qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: 0x11111111 });
 * qp.modify({ qpState: QpState.RTS, curQpState: QpState.SQD }); // without sqPsn: not the first way to RTS
 * ```
 */
export type QpModify<T extends number = number> = Modifications[T];
