import { enumName, LinkLayer, Mtu, QpState, QpType } from '../enums/index.js';
import type { AhAttr } from '../types/ah-attr.js';
import type { DeviceAttr, PortAttr } from '../types/device.js';
import type { QpAttr } from '../types/qp-attr.js';
import { type StepFields, stepFields } from './steps.js';

/** A call of `modify` that the library refused, and whom to ask about it. */
export interface RefusedModify {
  qpType: number;
  /** The state that the queue pair is in. */
  from: number;
  attr: QpAttr;
  /** `portNum` of the queue pair. */
  portNum: number;
  device: () => DeviceAttr;
  port: (portNum: number) => PortAttr;
}

/**
 * Why `ibv_modify_qp` refused, in the program's names; undefined where everything looks right from here. C says EINVAL to
 * every mistake; which step needs what is known, and so are the limits of the device.
 */
export function modifyReason(refused: RefusedModify): string | undefined {
  const { qpType, attr } = refused;
  const type = enumName(QpType, qpType);
  const [from, to] = [refused.from, attr.qpState ?? refused.from].map((state) => enumName(QpState, state));
  if (from === undefined || to === undefined) return undefined;
  if (attr.curQpState !== undefined && attr.curQpState !== refused.from && attr.curQpState !== QpState.RESET) {
    return `attr.curQpState says ${enumName(QpState, attr.curQpState)}, and the queue pair is in ${from}`;
  }
  const step = stepFields(type, from, to);
  if (step === undefined) return noStep(type, from, to);
  return wrongFields(attr, step, { type, from, to }) ?? wrongValue(refused);
}

function noStep(type: string, from: string, to: string): string {
  if (from === 'ERR') return `only RESET leads out of ERR: modify({ qpState: QpState.RESET }) first`;
  if (from === 'RESET' && to === 'RTR') return 'INIT comes before RTR: init() first, or connect() for the whole way';
  if (to === 'RTS')
    return `RTR comes before RTS, and the queue pair is in ${from}: connect() or activate() go the whole way`;
  if (to === 'INIT' || to === 'RTR') {
    return (
      `the queue pair is in ${from} already: a queue pair is connected once; for another peer reset it first, by ` +
      'modify({ qpState: QpState.RESET })'
    );
  }
  return `a queue pair of ${type} has no step from ${from} to ${to}`;
}

interface Step {
  type: string;
  from: string;
  to: string;
}

function wrongFields(attr: QpAttr, { needed, optional }: StepFields, { type, from, to }: Step): string | undefined {
  const given = Object.keys(attr).filter((name) => name !== 'qpState' && attr[name as keyof QpAttr] !== undefined);
  const missing = needed.filter((name) => attr[name] === undefined);
  const step = from === to ? `a change in ${from}` : `the step from ${from} to ${to}`;
  if (missing.length !== 0) {
    return `${paths(missing)} ${missing.length === 1 ? 'is' : 'are'} missing: for ${step}, ${type} needs ${list(needed)}`;
  }
  const extra = given.filter(
    (name) => !needed.includes(name as keyof QpAttr) && !optional.includes(name as keyof QpAttr),
  );
  if (extra.length === 0) return undefined;
  const takes = [...needed, ...optional];
  const taken = takes.length === 0 ? 'no further field' : list(takes);
  return `${paths(extra)} ${extra.length === 1 ? 'does' : 'do'} not belong to ${step}: there ${type} takes ${taken}`;
}

/** A value beyond what the device has, or a path that the port cannot use. */
function wrongValue({ attr, portNum, device, port }: RefusedModify): string | undefined {
  const { physPortCnt, maxQpInitRdAtom, maxQpRdAtom } = device();
  const ports = physPortCnt === 1 ? '1 port' : `ports 1 to ${physPortCnt}`;
  for (const [path, number] of [
    ['attr.portNum', attr.portNum],
    ['attr.ahAttr.portNum', attr.ahAttr?.portNum],
  ] as const) {
    if (number !== undefined && (number < 1 || number > physPortCnt)) {
      return `${path} is ${number}, and the device has ${ports}`;
    }
  }
  const over = (name: 'maxRdAtomic' | 'maxDestRdAtomic', limit: number, of: string) =>
    (attr[name] ?? 0) > limit ? `attr.${name} is ${attr[name]}, above ${of} of queryDevice(), ${limit}` : undefined;
  const facts = port(attr.portNum ?? portNum);
  return (
    over('maxRdAtomic', maxQpInitRdAtom, 'maxQpInitRdAtom') ??
    over('maxDestRdAtomic', maxQpRdAtom, 'maxQpRdAtom') ??
    ofPort(attr, attr.portNum ?? portNum, facts) ??
    (attr.ahAttr === undefined ? undefined : wrongPath(attr.ahAttr, facts))
  );
}

function ofPort({ pathMtu, pkeyIndex, altAhAttr }: QpAttr, portNum: number, facts: PortAttr): string | undefined {
  if (pathMtu !== undefined && pathMtu > facts.activeMtu) {
    return (
      `attr.pathMtu is Mtu.${enumName(Mtu, pathMtu)}, above the active MTU of port ${portNum}, ` +
      `Mtu.${enumName(Mtu, facts.activeMtu)}`
    );
  }
  if (pkeyIndex !== undefined && pkeyIndex >= facts.pkeyTblLen) {
    return `attr.pkeyIndex is ${pkeyIndex}, and port ${portNum} has ${facts.pkeyTblLen} partition keys, from index 0`;
  }
  if (altAhAttr !== undefined && facts.linkLayer === LinkLayer.ETHERNET) {
    return 'attr.altAhAttr is an alternate path, which RoCE does not have';
  }
  return undefined;
}

function wrongPath({ grh, portNum }: AhAttr, facts: PortAttr): string | undefined {
  if (grh === undefined) {
    if (facts.linkLayer !== LinkLayer.ETHERNET) return undefined;
    return (
      `attr.ahAttr.grh is missing: port ${portNum} is Ethernet (RoCE), where every path has a route: ` +
      '`grh: { dgid, sgidIndex }` with the GID of the peer'
    );
  }
  const { sgidIndex = 0, dgid } = grh;
  if (sgidIndex >= facts.gidTblLen) {
    return `attr.ahAttr.grh.sgidIndex is ${sgidIndex}, and the GID table of port ${portNum} has ${facts.gidTblLen} entries`;
  }
  const multicast = typeof dgid === 'string' ? /^ff/i.test(dgid) : dgid[0] === 0xff;
  return multicast ? 'attr.ahAttr.grh.dgid is a multicast group, and a connection has one peer' : undefined;
}

function paths(names: readonly string[]): string {
  return list(names.map((name) => `attr.${name}`));
}

function list(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
