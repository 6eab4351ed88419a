import type { Context, DeviceInfo, DeviceList } from '@verbs/core';
import {
  adoptContext,
  chooseVendorDevice,
  fields,
  isVendorDevice,
  listVendorDevices,
  or,
  softHint,
  u32,
  validate,
} from '@verbs/core/provider';
import { counted, done, made } from '../base/calls.js';
import type { ContextAttrFlags } from '../base/enums.js';
import { forContext, libraries, trust } from '../base/libraries.js';
import type { Mlx5DeviceAttr } from '../native/device.js';
import { native } from '../native/index.js';

const SYSCALL = 'mlx5dv_open_device';

/** `struct mlx5dv_context_attr`. */
export interface Mlx5ContextAttr {
  /** {@link ContextAttrFlags}: with DEVX, the open fails where the device or the user's rights do not allow it. */
  flags?: ContextAttrFlags;
}

/** `struct mlx5dv_port`. Fields without their bit in `flags` are 0. */
export interface Mlx5PortAttr {
  /** {@link QueryPortFlags}, or-ed. */
  flags: bigint;
  /** The port's number in the e-switch. */
  vport: number;
  /** The number of the function behind it. */
  vportVhcaId: number;
  /** The number of the function that owns the e-switch. */
  eswOwnerVhcaId: number;
  /** Where its receive steering begins in the device's memory. */
  vportSteeringIcmRx: bigint;
  /** Where its send steering begins in the device's memory. */
  vportSteeringIcmTx: bigint;
  /** The value of register C0 for packets from this port. */
  regC0: {
    /** The value, under `mask`. */
    value: number;
    /** The significant bits. */
    mask: number;
  };
}

const checkAttr = fields({ flags: or(u32(), 0) });

/**
 * `mlx5dv_is_supported`: whether the device is an mlx5 adapter, or a model of one.
 *
 * @example listDevices().filter(isSupported)
 */
export function isSupported(device: DeviceInfo): boolean {
  return isVendorDevice(libraries, device);
}

/**
 * The supported devices of both libraries, hardware first. The software NIC has one, `mlx5_soft0`, if its configuration
 * names no other. The `reason` of an empty list says why it is empty.
 */
export function listDevices(): DeviceList {
  return listVendorDevices(libraries);
}

/**
 * `mlx5dv_open_device`. Without a device: the first of {@link listDevices}. A context from @verbs/core's `openDevice`
 * works as well for every function of this package.
 *
 * @throws VerbsError ENODEV (no such device), EOPNOTSUPP (a device of another vendor), EPERM, EACCES
 * @example
 * using ctx = openDevice('mlx5_soft0');
 */
export function openDevice(device?: string | DeviceInfo, attr?: Mlx5ContextAttr): Context {
  const flags = attr === undefined ? undefined : checkAttr(attr, 'attr').flags;
  const info = chooseVendorDevice(libraries, device);
  const { vendor: library, libibverbs } = libraries.for(info.library, SYSCALL);
  const result = native.openDevice(library, libibverbs, info.name, flags);
  const hint = softHint(info.library);
  return trust(adoptContext(info, made(result, { library, syscall: SYSCALL, detail: info.name, hint })));
}

/**
 * `mlx5dv_query_device`: the capabilities that `ctx.queryDevice()` does not report.
 *
 * @throws TypeError for a value that is no Context; VerbsError EOPNOTSUPP for a device of another vendor
 * @example const striding = (queryDevice(ctx).compMask & ContextMask.STRIDING_RQ) !== 0n;
 */
export function queryDevice(ctx: Context): Mlx5DeviceAttr {
  const syscall = 'mlx5dv_query_device';
  const { library, handle } = forContext(ctx, syscall);
  return made(native.queryDevice(library, handle), { library, syscall });
}

/**
 * `mlx5dv_query_port` (`_mlx5dv_query_port`): a port's place in the e-switch.
 *
 * @throws VerbsError EINVAL (no such port), EOPNOTSUPP
 */
export function queryPort(ctx: Context, portNum: number): Mlx5PortAttr {
  const syscall = '_mlx5dv_query_port';
  const { library, handle } = forContext(ctx, syscall);
  validate.integer(portNum, 'portNum', 0, 0xffffffff);
  const result = made(native.queryPort(library, handle, portNum), { library, syscall, detail: `of port ${portNum}` });
  const { regC0Value: value, regC0Mask: mask, ...rest } = result;
  return { ...rest, regC0: { value, mask } };
}

/**
 * `mlx5dv_reserved_qpn_alloc`: a queue pair number that no queue pair has, for the parameters of connections.
 *
 * @throws VerbsError EOPNOTSUPP
 */
export function reservedQpnAlloc(ctx: Context): number {
  const syscall = 'mlx5dv_reserved_qpn_alloc';
  const { library, handle } = forContext(ctx, syscall);
  return counted(native.reservedQpnAlloc(library, handle), { library, syscall });
}

/**
 * `mlx5dv_reserved_qpn_dealloc`: gives a reserved number back.
 *
 * @throws VerbsError EINVAL (a number that is not reserved), EOPNOTSUPP
 */
export function reservedQpnDealloc(ctx: Context, qpn: number): void {
  const syscall = 'mlx5dv_reserved_qpn_dealloc';
  const { library, handle } = forContext(ctx, syscall);
  validate.integer(qpn, 'qpn', 0, 0xffffff);
  done(native.reservedQpnDealloc(library, handle, qpn), { library, syscall, detail: `0x${qpn.toString(16)}` });
}

/**
 * `mlx5dv_get_data_direct_sysfs_path`: of the device's data direct function, for dma-buf regions.
 *
 * @throws VerbsError ENODEV, EOPNOTSUPP (also from a libmlx5 before rdma-core 54)
 */
export function getDataDirectSysfsPath(ctx: Context): string {
  const syscall = 'mlx5dv_get_data_direct_sysfs_path';
  const { library, handle } = forContext(ctx, syscall);
  return made(native.getDataDirectSysfsPath(library, handle), { library, syscall });
}
