import { natural, text } from './arguments.js';
import { Capture } from './capture.js';
import type { CaptureOptions } from './config.js';
import { check, SoftError } from './errors.js';
import { Faults } from './faults.js';
import { metricsText } from './metrics.js';
import { native } from './native.js';
import { readReason, type ReasonReport } from './reasons.js';

/**
 * Returns a device of the software NIC for control beside the verbs: faults, captures, counters, and the link state, the
 * addresses and the MTU of its ports.
 *
 * Faults, captures, link states and MTUs can also be set while the device is not open; they apply from its next open on.
 *
 * @param device its name; without it the first device of the configuration.
 * @throws SoftError ENODEV if there is no such device; TypeError.
 * @example
 * const nic = softNic('soft0');
 * nic.setLinkDown(); // the program sees IBV_EVENT_PORT_ERR and retry errors
 */
export function softNic(device?: string): SoftNic {
  const name = device === undefined ? native().deviceNames()[0] : text('device', device);
  if (name === undefined) throw new SoftError(19, 'verbs_soft_device_name', native().lastError()); // ENODEV
  const nic = new SoftNic(name);
  nic.stats(); // throws if there is no such device
  return nic;
}

/** Control of one device of the software NIC: faults, captures, counters, addresses and links. See {@link softNic}. */
export class SoftNic {
  /** Its name in the configuration, for example 'soft0'. */
  readonly name: string;
  /** The fault plan of the device's links. */
  readonly faults: Faults;

  /** Use {@link softNic}. */
  constructor(name: string) {
    this.name = name;
    this.faults = new Faults(name);
  }

  /**
   * The counters since the device was configured. The counters of the NIC have the names of `rdma statistic` (sent_pkts,
   * rcvd_pkts, retransmitted_pkts, …), those of dropped packets by their reason begin with `drop_`, the counters of its links begin with `link_` and `fault_`. Wraps
   * `verbs_soft_stats`.
   *
   * @throws SoftError ENODEV if the configuration has changed and has no such device.
   * @example
   * const { sent_pkts, retransmitted_pkts } = softNic().stats();
   */
  stats(): Record<string, bigint> {
    const counters = native().stats(this.name);
    if (typeof counters === 'number') throw new SoftError(counters, 'verbs_soft_stats', native().lastError());
    return counters;
  }

  /**
   * What the device dropped, failed and refused, oldest first: the last 64. What repeats itself is one of them. Empty while
   * the device is not open. Wraps `verbs_soft_reasons`.
   *
   * @throws SoftError ENODEV as {@link stats}.
   * @example
   * for (const { text, help } of softNic().reasons()) console.log(`${text}: ${help}`);
   */
  reasons(): ReasonReport[] {
    const events = native().reasons(this.name);
    if (typeof events === 'number') throw new SoftError(events, 'verbs_soft_reasons', native().lastError());
    return events.map(readReason);
  }

  /**
   * The counters in the text format of Prometheus, for the response to its scrapes: `verbs_soft_sent_pkts_total` and so on,
   * labelled with the device's name.
   *
   * @throws SoftError ENODEV as {@link stats}.
   * @example
   * import { createServer } from 'node:http';
   *
   * createServer((request, response) => {
   *   response.setHeader('Content-Type', 'text/plain; version=0.0.4');
   *   response.end(softNic().metrics());
   * });
   */
  metrics(): string {
    return metricsText(this.name, this.stats());
  }

  /**
   * Writes the frames that the device sends and receives to a pcapng file, from now on, or from its next open on if it is
   * not open. Replaces a running capture. A device with several ports writes one file for each: that of port 2 has `.2`
   * behind the path, and so on. Wraps `verbs_soft_capture_start`.
   *
   * @throws SoftError with the errno of opening the file; TypeError, RangeError that name the option.
   * @example
   * const capture = nic.capture('run-%p.pcapng', { maxBytes: 32 << 20 });
   * // …
   * capture.stop(); // or `using capture = …`
   */
  capture(path: string, options: CaptureOptions = {}): Capture {
    return new Capture(this.name, path, options);
  }

  /**
   * Takes the link of a port down: its state is DOWN, IBV_EVENT_PORT_ERR is raised, and no frame enters or leaves the
   * port, so that requests fail with IBV_WC_RETRY_EXC_ERR. Wraps `verbs_soft_set_link`.
   *
   * @param port from 1; without it all ports of the device.
   * @throws SoftError EINVAL if there is no such port.
   */
  setLinkDown(port?: number): void {
    this.#setLink(port, false);
  }

  /** Takes the link of a port up: its state is ACTIVE, IBV_EVENT_PORT_ACTIVE is raised. See {@link setLinkDown}. */
  setLinkUp(port?: number): void {
    this.#setLink(port, true);
  }

  /**
   * Adds an address of this machine to the GID table of a port, in its first empty entry, until the device is closed.
   * IBV_EVENT_GID_CHANGE is raised. Wraps `verbs_soft_add_gid`.
   *
   * @returns the index of the entry.
   * @throws SoftError ENOTCONN if the device is not open, EADDRNOTAVAIL if it is not an address of this machine,
   *   EADDRINUSE if it is taken, ENOSPC if the table is full, EINVAL.
   * @example
   * const index = nic.addGid('127.0.0.9');
   */
  addGid(address: string, port = 1): number {
    const added = native().addGid(this.name, portNumber(port), text('address', address));
    if (typeof added === 'number') throw new SoftError(added, 'verbs_soft_add_gid', native().lastError());
    return added.index;
  }

  /**
   * Removes an address from the GID table of a port; its entry is empty from then on. Packets of queue pairs and address
   * handles that use the address are dropped. IBV_EVENT_GID_CHANGE is raised. Wraps `verbs_soft_remove_gid`.
   *
   * @throws SoftError ENOENT if the port does not have it, ENOTCONN, EINVAL.
   */
  removeGid(address: string, port = 1): void {
    check(native().removeGid(this.name, portNumber(port), text('address', address)), 'verbs_soft_remove_gid');
  }

  /**
   * Sets the active MTU in bytes. It applies to datagrams and new connections; existing connections keep their MTU. As in
   * the kernel, no event reports it. Wraps `verbs_soft_set_mtu`.
   *
   * @param port from 1; without it all ports of the device.
   * @throws SoftError EINVAL.
   */
  setMtu(mtu: 256 | 512 | 1024 | 2048 | 4096, port?: number): void {
    const bytes = natural('mtu', mtu, 4096n);
    check(native().setMtu(this.name, portNumber(port), bytes), 'verbs_soft_set_mtu');
  }

  /**
   * Makes the device fail: all its queue pairs enter the error state, their work is flushed, and IBV_EVENT_DEVICE_FATAL is
   * raised. New queue pairs work. Wraps `verbs_soft_fail`.
   *
   * @throws SoftError ENOTCONN if the device is not open.
   */
  fail(): void {
    check(native().fail(this.name), 'verbs_soft_fail');
  }

  #setLink(port: number | undefined, up: boolean): void {
    check(native().setLink(this.name, portNumber(port), up), 'verbs_soft_set_link');
  }
}

/** 0 means all ports. */
function portNumber(port: number | undefined): bigint {
  return port === undefined ? 0n : natural('port', port, 255n, 1n);
}
