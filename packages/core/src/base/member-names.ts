import {
  AccessFlags,
  MigState,
  MwType,
  QpAttrMask,
  QpState,
  QpType,
  SendFlags,
  SendOpsFlags,
  WcExFlags,
  WrOpcode,
} from '../enums/index.js';

type Enumeration = readonly [name: string, values: Readonly<Record<string, number>>];

const ACCESS: Enumeration = ['AccessFlags', AccessFlags];
const STATE: Enumeration = ['QpState', QpState];

/** The enumerations whose values programs pass, by the last part of the argument's path. */
const byField = new Map<string, Enumeration>([
  ['access', ACCESS],
  ['qpAccessFlags', ACCESS],
  ['mwAccess', ACCESS],
  ['opcode', ['WrOpcode', WrOpcode]],
  ['sendFlags', ['SendFlags', SendFlags]],
  ['sendOpsFlags', ['SendOpsFlags', SendOpsFlags]],
  ['qpType', ['QpType', QpType]],
  ['qpState', STATE],
  ['curQpState', STATE],
  ['pathMigState', ['MigState', MigState]],
  ['mwType', ['MwType', MwType]],
  ['mask', ['QpAttrMask', QpAttrMask]],
  ['wcFlags', ['WcExFlags', WcExFlags]],
]);

/**
 * What an argument must be that names a member of its enumeration in text, as C programmers and readers of output write it:
 * `'SEND'` for `WrOpcode.SEND`. Undefined for any other value.
 */
export function memberNamed(path: string, value: unknown): string | undefined {
  const [name, values] = byField.get(path.slice(path.lastIndexOf('.') + 1)) ?? [];
  if (name === undefined || values === undefined || typeof value !== 'string') return undefined;
  const text = value.replace(/^IBV_(WR_|SEND_|ACCESS_|QPT_|QPS_)?/, '');
  const member = Object.keys(values).find((each) => each === text.toUpperCase());
  return member === undefined ? undefined : `${name}.${member}`;
}
