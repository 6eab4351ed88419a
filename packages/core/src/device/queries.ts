import { errno } from '../base/errno.js';
import { check, checked, VerbsError } from '../base/errors.js';
import { formatGuid, gidText } from '../base/gid.js';
import { flags, type Forms, hex, mtu, named, readable } from '../base/inspection.js';
import { native, type NativeGidEntry, type NativeHandle } from '../base/native.js';
import { integer } from '../base/validate.js';
import { AtomicCap, DeviceCapFlags, GidType, LinkLayer, PortFlags, PortState } from '../enums/index.js';
import { nativeAhAttr, publicAhAttr } from '../qp/ah-attr.js';
import { destinationsOf, receivedFrom } from '../qp/received-from.js';
import type { FullAhAttr } from '../types/ah-attr.js';
import type { DeviceAttr, DeviceAttrEx, GidEntry, PortAttr } from '../types/device.js';

const gidForms: Forms<GidEntry> = { type: (value) => named(GidType, value) };

const deviceForms: Forms<DeviceAttr> = {
  nodeGuid: formatGuid,
  sysImageGuid: formatGuid,
  pageSizeCap: hex,
  vendorId: hex,
  hwVer: hex,
  deviceCapFlags: (value) => flags(DeviceCapFlags, value),
  atomicCap: (value) => named(AtomicCap, value),
};

const deviceExForms: Forms<DeviceAttrEx> = { ...deviceForms, completionTimestampMask: hex, deviceCapFlagsEx: hex };

const portForms: Forms<PortAttr> = {
  state: (value) => named(PortState, value),
  maxMtu: mtu,
  activeMtu: mtu,
  portCapFlags: hex,
  portCapFlags2: hex,
  linkLayer: (value) => named(LinkLayer, value),
  flags: (value) => flags(PortFlags, value),
};

function gidEntry({ gid, gidIndex, portNum, gidType, ndevIfindex }: NativeGidEntry): GidEntry {
  return readable({ index: gidIndex, portNum, gid: gidText(gid), type: gidType, ndevIfindex }, gidForms);
}

// The queries of an open device, by its native handle.

export function queryDevice(context: NativeHandle): DeviceAttr {
  return readable(checked(native.queryDevice(context), 'ibv_query_device'), deviceForms);
}

export function queryDeviceEx(context: NativeHandle): DeviceAttrEx {
  return readable(checked(native.queryDeviceEx(context), 'ibv_query_device_ex'), deviceExForms);
}

export function queryPort(context: NativeHandle, portNum: unknown): PortAttr {
  const port = portNumber(portNum);
  const attr = checked(native.queryPort(context, port), 'ibv_query_port', { detail: `of port ${port}` });
  return readable(attr, portForms);
}

export function queryGid(context: NativeHandle, portNum: unknown, index: unknown): string {
  const port = portNumber(portNum);
  const at = tableIndex(index);
  const detail = `${at} of port ${port}`;
  return gidText(checked(native.queryGid(context, port, at), 'ibv_query_gid', { detail }));
}

export function queryPkey(context: NativeHandle, portNum: unknown, index: unknown): number {
  const port = portNumber(portNum);
  const at = tableIndex(index);
  const pkey = native.queryPkey(context, port, at);
  check(pkey, 'ibv_query_pkey', { detail: `${at} of port ${port}` });
  return pkey;
}

export function gidTable(context: NativeHandle, portNum: unknown): GidEntry[] {
  const { physPortCnt } = queryDevice(context);
  if (portNum !== undefined) queryPort(context, portNum);
  let room = 0;
  for (let each = 1; each <= physPortCnt; each++) room += queryPort(context, each).gidTblLen;
  const table = checked(native.queryGidTable(context, room), 'ibv_query_gid_table');
  return table.filter((entry) => portNum === undefined || entry.portNum === portNum).map(gidEntry);
}

/** The GID that connections of this port use unless told otherwise. */
export function defaultGid(context: NativeHandle, portNum: unknown): GidEntry {
  const port = portNumber(portNum);
  const [first] = gidTable(context, port).sort(
    (one, two) => preference(one) - preference(two) || one.index - two.index,
  );
  if (first !== undefined) return first;
  throw new VerbsError(errno.ENODATA, 'ibv_query_gid_table', {
    detail: `of port ${port}`,
    hint: 'the GID table is empty: the network interface of the port has no address, or is down',
  });
}

/** Less is better: what routers forward before what they do not, addresses that somebody assigned before automatic ones. */
function preference({ gid, type }: GidEntry): number {
  const local = gid.startsWith('fe80:');
  if (type === GidType.ROCE_V1) return local ? 5 : 4;
  if (type === GidType.ROCE_V2) return gid.startsWith('::ffff:') ? 0 : local ? 3 : 1;
  // On InfiniBand the first GID is the port's own, with the prefix of a link-local address as a rule.
  return 2;
}

export function queryGidEx(context: NativeHandle, portNum: unknown, index: unknown): GidEntry {
  const port = portNumber(portNum);
  const at = tableIndex(index);
  const detail = `${at} of port ${port}`;
  return gidEntry(checked(native.queryGidEx(context, port, at), 'ibv_query_gid_ex', { detail }));
}

export function pkeyIndex(context: NativeHandle, portNum: unknown, pkey: unknown): number {
  const port = portNumber(portNum);
  const key = integer(pkey, 'pkey', 0, 0xffff);
  const index = native.getPkeyIndex(context, port, key);
  check(index, 'ibv_get_pkey_index', { detail: `of 0x${key.toString(16)}` });
  return index;
}

export function queryRtValues(context: NativeHandle): { rawClock: bigint } {
  const rawClock = native.queryRtValues(context);
  if (typeof rawClock === 'number') throw new VerbsError(rawClock, 'ibv_query_rt_values_ex');
  return { rawClock };
}

export function queryPortSpeed(context: NativeHandle, portNum: unknown): bigint {
  const port = portNumber(portNum);
  const speed = native.queryPortSpeed(context, port);
  if (typeof speed === 'number') throw new VerbsError(speed, 'ibv_query_port_speed', { detail: `of port ${port}` });
  return speed;
}

/** For `syscall`, whose caller has the error. */
export function initAhFromWc(
  context: NativeHandle,
  portNum: unknown,
  wc: unknown,
  grh: unknown,
  syscall = 'ibv_init_ah_from_wc',
): FullAhAttr {
  const port = portNumber(portNum);
  const { completion, header } = receivedFrom(wc, grh);
  const attr = native.initAhFromWc(context, port, completion, header);
  if (typeof attr !== 'number') return publicAhAttr(attr);
  const hint = header === undefined ? undefined : foreignDestination(context, port, header);
  throw new VerbsError(attr, syscall, { hint });
}

/** The remedy where a routing header has a destination that is no GID of the port; undefined where it has one. */
function foreignDestination(context: NativeHandle, port: number, header: Uint8Array): string | undefined {
  if (port > queryDevice(context).physPortCnt) return undefined;
  const destinations = destinationsOf(header);
  const gids = gidTable(context, port).map(({ gid }) => gid);
  const [destination] = destinations;
  if (destination === undefined || destinations.some((each) => gids.includes(each))) return undefined;
  return (
    `the destination of the routing header, ${destination}, is no GID of port ${port}, which has ${gids.join(', ')}: ` +
    'check that grh is of this completion, and portNum'
  );
}

export function resolveEthL2FromGid(context: NativeHandle, attr: unknown): { mac: Uint8Array; vlanId: number } {
  return checked(native.resolveEthL2FromGid(context, nativeAhAttr(attr, 'attr')), 'ibv_resolve_eth_l2_from_gid');
}

function portNumber(value: unknown): number {
  return integer(value, 'portNum', 1, 255);
}

function tableIndex(value: unknown): number {
  return integer(value, 'index', 0, 0x7fffffff);
}
