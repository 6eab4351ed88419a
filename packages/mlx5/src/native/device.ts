import type { ClockInfo } from '../device/clock.js';
import type { Mlx5DeviceAttr } from '../device/device.js';
import type { Libibverbs, NativeHandle, NativeLibrary } from './handles.js';

export interface NativePort {
  flags: bigint;
  vport: number;
  vportVhcaId: number;
  eswOwnerVhcaId: number;
  vportSteeringIcmRx: bigint;
  vportSteeringIcmTx: bigint;
  regC0Value: number;
  regC0Mask: number;
}

/** Of native/binding/device.cc. */
export interface NativeDevice {
  isSupported(library: NativeLibrary, libibverbs: Libibverbs, name: string): boolean;
  isMlx5(library: NativeLibrary, context: NativeHandle): boolean;
  openDevice(
    library: NativeLibrary,
    libibverbs: Libibverbs,
    name: string,
    flags: number | undefined,
  ): NativeHandle | number;
  queryDevice(library: NativeLibrary, context: NativeHandle): Mlx5DeviceAttr | number;
  queryPort(library: NativeLibrary, context: NativeHandle, portNum: number): NativePort | number;
  getClockInfo(library: NativeLibrary, context: NativeHandle): ClockInfo | number;
  reservedQpnAlloc(library: NativeLibrary, context: NativeHandle): number;
  reservedQpnDealloc(library: NativeLibrary, context: NativeHandle, qpn: number): number;
  getDataDirectSysfsPath(library: NativeLibrary, context: NativeHandle): string | number;
}
