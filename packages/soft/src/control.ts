import { type CaptureOptions, type DeviceConfig, type FaultPlan, configurationText, faultText } from './config.js';
import { check, SoftError } from './errors.js';
import { native } from './native.js';

/**
 * Replaces the configuration of this process, also that of the variable VERBS_SOFT; null goes back to the variable.
 * Wraps `verbs_soft_configure`.
 *
 * @throws SoftError EINVAL if the configuration is wrong (the message names the device, the key and what is allowed),
 *   EBUSY while a device is open.
 * @example
 * configure('soft0,addr=127.0.0.5;soft1,mtu=1024')
 * configure([{ name: 'soft0', faults: { drop: 0.02, seed: 7 } }])
 */
export function configure(devices: string | readonly DeviceConfig[] | null): void {
  check(native().configure(devices === null ? null : textOf(devices)), 'verbs_soft_configure');
}

/**
 * Adds devices to those there are. Wraps `verbs_soft_add_devices`.
 *
 * @throws SoftError EINVAL, or EEXIST if a name is taken.
 * @example
 * addDevices([{ name: 'lossy0', faults: { drop: 0.1 } }])
 */
export function addDevices(devices: string | readonly DeviceConfig[]): void {
  check(native().addDevices(textOf(devices)), 'verbs_soft_add_devices');
}

/** The names of the configured devices that can be listed. */
export function deviceNames(): string[] {
  return native().deviceNames();
}

/** The software NIC's words about the last failure in this thread, also of listing and opening devices; '' if none. */
export function lastError(): string {
  return native().lastError();
}

/**
 * The counters of a device since it was configured (default: the first device). Those of the NIC have the names of
 * `rdma statistic` (sent_pkts, rcvd_pkts, retransmitted_pkts, …), those of its links begin with `link_` and `fault_`.
 * Wraps `verbs_soft_stats`.
 *
 * @throws SoftError ENODEV if there is no such device.
 * @example
 * const before = stats('soft0').retransmitted_pkts
 */
export function stats(device?: string): Record<string, bigint> {
  const counters = native().stats(device ?? firstDevice('verbs_soft_stats'));
  if (typeof counters === 'number') throw new SoftError(counters, 'verbs_soft_stats', native().lastError());
  return counters;
}

/**
 * Writes what a device sends and receives to a pcapng file, from now on or, if it is not open, from its next open on.
 * A device with several ports writes a file for each. Wraps `verbs_soft_capture_start`.
 *
 * @throws SoftError ENODEV, or why the file cannot be written.
 * @example
 * captureStart('soft0', 'run-%p.pcapng', { maxBytes: 32 << 20 })
 */
export function captureStart(device: string, path: string, options: CaptureOptions = {}): void {
  const { maxBytes = 0, snapLength = 0 } = options;
  const limit = natural('options.maxBytes', maxBytes, 2n ** 64n - 1n);
  const snap = natural('options.snapLength', snapLength, 2n ** 32n - 1n);
  check(native().captureStart(device, path, limit, snap), 'verbs_soft_capture_start');
}

/**
 * Ends a capture; the file is complete then. Wraps `verbs_soft_capture_stop`.
 *
 * @throws SoftError ENODEV, or the error that ended the capture early (ENOSPC for a full disk).
 */
export function captureStop(device: string): void {
  check(native().captureStop(device), 'verbs_soft_capture_stop');
}

/**
 * Puts a fault plan on a device's link, null takes it off. Wraps `verbs_soft_set_faults`.
 *
 * @throws SoftError ENODEV, EINVAL.
 * @example
 * setFaults('soft0', { drop: 0.02, seed: 7 })
 */
export function setFaults(device: string, plan: string | FaultPlan | null): void {
  const text = plan === null ? '' : typeof plan === 'string' ? plan : faultText(plan);
  check(native().setFaults(device, text), 'verbs_soft_set_faults');
}

function textOf(devices: string | readonly DeviceConfig[]): string {
  return typeof devices === 'string' ? devices : configurationText(devices);
}

function firstDevice(syscall: string): string {
  const [name] = native().deviceNames();
  if (name === undefined) throw new SoftError(19, syscall, native().lastError()); // ENODEV
  return name;
}

function natural(name: string, value: number | bigint, max: bigint): bigint {
  if (typeof value !== 'bigint' && !Number.isSafeInteger(value)) {
    throw new RangeError(`${name}: expected a whole number from 0 to ${max.toString()}, got ${String(value)}`);
  }
  const number = BigInt(value);
  if (number < 0n || number > max) {
    throw new RangeError(`${name}: expected a whole number from 0 to ${max.toString()}, got ${number.toString()}`);
  }
  return number;
}
