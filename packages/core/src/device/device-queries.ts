import { check, checked, VerbsError } from '../base/errors.js';
import { formatGuid, gidText } from '../base/gid.js';
import { flags, type Forms, hex, mtu, named, readable } from '../base/inspection.js';
import { native, type NativeGidEntry } from '../base/native.js';
import { integer } from '../base/validate.js';
import { AtomicCap, DeviceCapFlags, GidType, LinkLayer, PortFlags, PortState } from '../enums/index.js';
import { Resource } from '../lifetime/resource.js';
import { type AhAttr, type FullAhAttr, nativeAhAttr, publicAhAttr } from '../qp/ah-attr.js';
import { type ReceivedFrom, receivedFrom } from '../qp/received-from.js';
import type { DeviceAttr, DeviceAttrEx } from './device-attr.js';
import type { GidEntry, PortAttr } from './port-attr.js';

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

function port(portNum: unknown): void {
  integer(portNum, 'portNum', 1, 255);
}

/** What an open device tells of itself, its ports and their tables. */
export abstract class DeviceQueries extends Resource {
  /** `ibv_context.num_comp_vectors`: how many completion vectors `createCq` may choose from. */
  get numCompVectors(): number {
    return native.numCompVectors(this.use('ibv_context.num_comp_vectors'));
  }

  /**
   * `ibv_query_device`: what the device is, and how much of everything it has.
   *
   * @throws VerbsError with the library's errno, of a device that failed
   * @example if (ctx.queryDevice().maxQpWr < 4096) console.log('queues are short here');
   */
  queryDevice(): DeviceAttr {
    const attr = checked(native.queryDevice(this.use('ibv_query_device')), 'ibv_query_device');
    return readable(attr, deviceForms);
  }

  /**
   * `ibv_query_device_ex`: the same and more; zero where the device has no extended query.
   *
   * @throws VerbsError with the library's errno, of a device that failed
   * @example const ticksPerSecond = ctx.queryDeviceEx().hcaCoreClock * 1000n;
   */
  queryDeviceEx(): DeviceAttrEx {
    const attr = checked(native.queryDeviceEx(this.use('ibv_query_device_ex')), 'ibv_query_device_ex');
    return readable(attr, deviceExForms);
  }

  /**
   * `ibv_query_port`: a port's state, addresses and limits.
   *
   * @param portNum from 1 to `physPortCnt` of {@link DeviceQueries.queryDevice}
   * @throws VerbsError EINVAL for a port that the device does not have
   * @example if (ctx.queryPort(1).state !== PortState.ACTIVE) throw new Error('the link is down');
   */
  queryPort(portNum: number): PortAttr {
    const context = this.use('ibv_query_port');
    port(portNum);
    const attr = checked(native.queryPort(context, portNum), 'ibv_query_port', { detail: `of port ${portNum}` });
    return readable(attr, portForms);
  }

  /**
   * `ibv_query_gid`: the GID as IPv6 text. An empty entry is `::`.
   *
   * @param index 0 to `gidTblLen` - 1 of {@link DeviceQueries.queryPort}
   * @throws VerbsError EINVAL for a port or an index that the device does not have
   * @example ctx.queryGid(1, 0); // '::ffff:127.0.0.1'
   */
  queryGid(portNum: number, index: number): string {
    const context = this.use('ibv_query_gid');
    port(portNum);
    integer(index, 'index', 0, 0x7fffffff);
    const detail = `${index} of port ${portNum}`;
    return gidText(checked(native.queryGid(context, portNum, index), 'ibv_query_gid', { detail }));
  }

  /**
   * `ibv_query_pkey`: a partition key in host order, 16 bits. 0xffff is that of the default partition.
   *
   * @param index 0 to `pkeyTblLen` - 1 of {@link DeviceQueries.queryPort}
   * @throws VerbsError EINVAL for a port or an index that the device does not have
   */
  queryPkey(portNum: number, index: number): number {
    const context = this.use('ibv_query_pkey');
    port(portNum);
    integer(index, 'index', 0, 0x7fffffff);
    const pkey = native.queryPkey(context, portNum, index);
    if (pkey < 0) throw new VerbsError(pkey, 'ibv_query_pkey', { detail: `${index} of port ${portNum}` });
    return pkey;
  }

  /**
   * `ibv_query_gid_table`: the used entries of a port's GID table, or of all ports.
   *
   * @throws VerbsError EINVAL for a port that the device does not have
   * @example const sgidIndex = ctx.gidTable(1).find(({ type }) => type === GidType.ROCE_V2)?.index;
   */
  gidTable(portNum?: number): GidEntry[] {
    const context = this.use('ibv_query_gid_table');
    const { physPortCnt } = this.queryDevice();
    if (portNum !== undefined) this.queryPort(portNum);
    let room = 0;
    for (let each = 1; each <= physPortCnt; each++) room += this.queryPort(each).gidTblLen;
    const table = checked(native.queryGidTable(context, room), 'ibv_query_gid_table');
    return table.filter((entry) => portNum === undefined || entry.portNum === portNum).map(gidEntry);
  }

  /**
   * `ibv_query_gid_ex`: one entry of the GID table, with its type and network interface.
   *
   * @throws VerbsError ENODATA (an empty entry), EINVAL (a port or an index that the device does not have)
   */
  queryGidEx(portNum: number, index: number): GidEntry {
    const context = this.use('ibv_query_gid_ex');
    port(portNum);
    integer(index, 'index', 0, 0x7fffffff);
    const detail = `${index} of port ${portNum}`;
    return gidEntry(checked(native.queryGidEx(context, portNum, index), 'ibv_query_gid_ex', { detail }));
  }

  /**
   * `ibv_get_pkey_index`: where a partition key (in host order) is in the port's table.
   *
   * @throws VerbsError EINVAL if it is not there, or the device has no such port
   */
  pkeyIndex(portNum: number, pkey: number): number {
    const context = this.use('ibv_get_pkey_index');
    port(portNum);
    integer(pkey, 'pkey', 0, 0xffff);
    const index = native.getPkeyIndex(context, portNum, pkey);
    check(index, 'ibv_get_pkey_index', { detail: `of 0x${pkey.toString(16)}` });
    return index;
  }

  /**
   * `ibv_query_rt_values_ex`: the device's clock now, in ticks (`hcaCoreClock` kHz), as completion timestamps have it.
   *
   * @throws VerbsError EOPNOTSUPP where the device has no clock to read
   */
  queryRtValues(): {
    /** Ticks. */
    rawClock: bigint;
  } {
    const syscall = 'ibv_query_rt_values_ex';
    const rawClock = native.queryRtValues(this.use(syscall));
    if (typeof rawClock === 'number') throw new VerbsError(rawClock, syscall);
    return { rawClock };
  }

  /**
   * `ibv_query_port_speed`, which libibverbs has since version 62: what the port can carry now, in 100 Mbit/s. Unlike
   * `activeSpeed` and `activeWidth` of {@link Context.queryPort} it may be any number, and of a virtual function behind
   * a bond it is the sum.
   *
   * @throws VerbsError EOPNOTSUPP with an older library, and where the device does not tell
   * @example const gigabits = Number(ctx.queryPortSpeed(1)) / 10;
   */
  queryPortSpeed(portNum: number): bigint {
    const syscall = 'ibv_query_port_speed';
    const context = this.use(syscall);
    port(portNum);
    const speed = native.queryPortSpeed(context, portNum);
    if (typeof speed === 'number') throw new VerbsError(speed, syscall, { detail: `of port ${portNum}` });
    return speed;
  }

  /** `ibv_context.cmd_fd`: what {@link importDevice} takes. */
  get cmdFd(): number {
    return native.cmdFd(this.use('ibv_context.cmd_fd'));
  }

  /**
   * `ibv_init_ah_from_wc`: the way back to who sent a datagram, for {@link ProtectionDomain.createAh}.
   *
   * @param grh the first 40 bytes of the receive buffer; needed if `wc.wcFlags` has GRH
   * @throws TypeError if they are needed and missing, or fewer than 40
   * @throws VerbsError EINVAL (a header that is none, or that was not sent to this port)
   * @example const ah = pd.createAh(ctx.initAhFromWc(1, wc, mr.bytes.subarray(0, 40)));
   */
  initAhFromWc(portNum: number, wc: ReceivedFrom, grh: Uint8Array | undefined): FullAhAttr {
    const syscall = 'ibv_init_ah_from_wc';
    const context = this.use(syscall);
    port(portNum);
    const { completion, header } = receivedFrom(wc, grh);
    return publicAhAttr(checked(native.initAhFromWc(context, portNum, completion, header), syscall));
  }

  /**
   * `ibv_resolve_eth_l2_from_gid`: the peer's MAC address and VLAN (0 to 4095; 0xffff for none) behind a route.
   *
   * @throws VerbsError EINVAL (no route in `attr`, no such port or GID index), EHOSTUNREACH, EOPNOTSUPP
   */
  resolveEthL2FromGid(attr: AhAttr): {
    /** 6 bytes. */
    mac: Uint8Array;
    /** 0 to 4095; 0xffff for none. */
    vlanId: number;
  } {
    const syscall = 'ibv_resolve_eth_l2_from_gid';
    return checked(native.resolveEthL2FromGid(this.use(syscall), nativeAhAttr(attr, 'attr')), syscall);
  }
}
