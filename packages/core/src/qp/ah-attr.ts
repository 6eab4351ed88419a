import { fields, flag, maybe, or, u16, u20, u4, u7, u8 } from '../base/fields.js';
import { gidBytes, gidText } from '../base/gid.js';
import type { NativeAhAttr } from '../base/native.js';
import { typeError, valueError } from '../base/validate.js';
import type { FullAhAttr } from '../types/ah-attr.js';

const route = fields({
  dgid: (value: unknown, path: string) => {
    if (value === undefined) throw typeError(path, 'a GID as IPv6 text or as 16 bytes', value);
    return gidBytes(value, path);
  },
  flowLabel: or(u20(), 0),
  sgidIndex: maybe(u8()),
  hopLimit: or(u8(), 64),
  trafficClass: or(u8(), 0),
});

const address = fields({
  portNum: u8(1),
  dlid: or(u16(), 0),
  sl: or(u4(), 0),
  srcPathBits: or(u7(), 0),
  staticRate: or(u8(), 0),
  isGlobal: maybe(flag()),
  grh: maybe(route),
});

/** Checks every field, by its path. `sourceOf` finds the index of the port's own GID where none is given; else it is 0. */
export function nativeAhAttr(
  value: unknown,
  path: string,
  sourceOf: (portNum: number) => number = () => 0,
): NativeAhAttr {
  const { grh, ...attr } = address(value, path);
  const isGlobal = attr.isGlobal ?? grh !== undefined;
  if (grh !== undefined) {
    const sgidIndex = grh.sgidIndex ?? (isGlobal ? sourceOf(attr.portNum) : 0);
    return { ...attr, isGlobal, grh: { ...grh, sgidIndex } };
  }
  if (isGlobal) throw valueError(`${path}.grh`, 'is missing although isGlobal is true');
  return { ...attr, isGlobal };
}

export function publicAhAttr(attr: Required<NativeAhAttr>): FullAhAttr {
  return { ...attr, grh: { ...attr.grh, dgid: gidText(attr.grh.dgid) } };
}
