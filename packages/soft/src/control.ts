import { type DeviceConfig, configurationText } from './config.js';
import { check } from './errors.js';
import { native } from './native.js';

/**
 * Replaces the configuration of this process, also that of the variable VERBS_SOFT, but for what that has for every device
 * (`*`): the faults and captures of `verbs run`. Null reads the variable again. Wraps `verbs_soft_configure`.
 *
 * @throws SoftError EINVAL if the configuration is wrong (the message names the device, the key and the allowed values),
 *   EBUSY while a device is open; TypeError, RangeError that name the argument or the field.
 * @example
 * configure('soft0,addr=127.0.0.5;soft1,mtu=1024')
 * configure([{ name: 'soft0', faults: { drop: 0.02 }, seed: 7 }])
 */
export function configure(devices: string | readonly DeviceConfig[] | null): void {
  check(native().configure(devices === null ? null : textOf(devices)), 'verbs_soft_configure');
}

/**
 * Adds devices to the configuration. Wraps `verbs_soft_add_devices`.
 *
 * @throws SoftError EINVAL, or EEXIST if a name is taken.
 * @example
 * addDevices([{ name: 'lossy0', faults: { drop: 0.1 } }])
 */
export function addDevices(devices: string | readonly DeviceConfig[]): void {
  check(native().addDevices(textOf(devices)), 'verbs_soft_add_devices');
}

/** The names of the configured devices, without those whose model is not loaded. */
export function deviceNames(): string[] {
  return native().deviceNames();
}

/** The text of the last failed call in this thread, also of listing and opening devices; '' if no call has failed. */
export function lastError(): string {
  return native().lastError();
}

function textOf(devices: string | readonly DeviceConfig[]): string {
  return typeof devices === 'string' ? devices : configurationText(devices);
}
