import type { Context } from '@verbs/core';
import { adoptContext, fields, members, type Members, or, u32, validate } from '@verbs/core/provider';
import { counted, done, made } from '../base/calls.js';
import { forContext, libraries, trust } from '../base/libraries.js';
import { native } from '../native/index.js';

/** `struct mlx5dv_vfio_context_attr`. */
export interface VfioContextAttr {
  /** '0000:3b:00.0' */
  pciName: string;
  /** {@link VfioContextFlags}, default 0. */
  flags?: VfioContextFlags;
}

enum VfioContextFlagsValue {
  /** The port stays down until the program raises it. */
  INIT_LINK_DOWN = 1,
}
/** `enum mlx5dv_vfio_context_attr_flags`. */
export const VfioContextFlags: Members<typeof VfioContextFlagsValue> = members(VfioContextFlagsValue);
/** Or-ed values of {@link VfioContextFlags}, or 0. A number that comes from C is one as well; another enumeration's value is not. */
export type VfioContextFlags = VfioContextFlagsValue | 0;

const checkAttr = fields({ pciName: pciAddress, flags: or(u32(), 0) });

function pciAddress(value: unknown, path: string): string {
  if (typeof value === 'string' && /^[\da-f]{4,}:[\da-f]{2}:[\da-f]{2}\.[0-7]$/i.test(value)) return value;
  throw validate.typeError(path, "a PCI address such as '0000:3b:00.0'", value);
}

/**
 * `mlx5dv_get_vfio_device_list` and `ibv_open_device`: a device that is bound to vfio-pci, driven by this process alone.
 * It has only the commands of DEVX. The program must call {@link vfioProcessEvents} whenever the descriptor of
 * {@link vfioGetEventsFd} is readable.
 *
 * @throws VerbsError ENODEV, EINVAL, EPERM, EOPNOTSUPP
 */
export function openVfioDevice(attr: VfioContextAttr): Context {
  const syscall = 'mlx5dv_get_vfio_device_list';
  const { pciName, flags } = checkAttr(attr, 'attr');
  const { vendor: library, libibverbs } = libraries.for('system', syscall);
  const result = native.openVfioDevice(library, libibverbs, pciName, flags);
  const { handle, name } = made(result, { library, syscall, detail: pciName });
  return trust(
    adoptContext(
      {
        name,
        guid: 0n,
        nodeType: 1,
        transportType: 0,
        devName: name,
        devPath: '',
        ibdevPath: '',
        index: -1,
        library: 'system',
      },
      handle,
    ),
  );
}

/** `mlx5dv_vfio_get_events_fd`: readable when there are events to process. @throws VerbsError EOPNOTSUPP */
export function vfioGetEventsFd(ctx: Context): number {
  const syscall = 'mlx5dv_vfio_get_events_fd';
  const { library, handle } = forContext(ctx, syscall);
  return counted(native.vfioGetEventsFd(library, handle), { library, syscall });
}

/** `mlx5dv_vfio_process_events`: the driver's own work, for which there is no other thread. @throws VerbsError EOPNOTSUPP */
export function vfioProcessEvents(ctx: Context): void {
  const syscall = 'mlx5dv_vfio_process_events';
  const { library, handle } = forContext(ctx, syscall);
  done(native.vfioProcessEvents(library, handle), { library, syscall });
}
