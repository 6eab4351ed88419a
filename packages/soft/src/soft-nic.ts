import { natural } from './arguments.js';
import { Capture } from './capture.js';
import type { CaptureOptions } from './config.js';
import { check, SoftError } from './errors.js';
import { Faults } from './faults.js';
import { native } from './native.js';

/**
 * A device of the software NIC, for what no verb does to it: faults, captures, counters, and ports that go down, change
 * their addresses or their MTU.
 *
 * Faults, captures, link states and MTUs may also be set while the device is not open: it opens with them.
 *
 * @param device its name; without it the first device of the configuration.
 * @throws SoftError ENODEV if there is no such device.
 * @example
 * const nic = softNic('soft0');
 * nic.setLinkDown();   // what does the program make of it?
 */
export function softNic(device?: string): SoftNic {
  const name = device ?? native().deviceNames()[0];
  if (name === undefined) throw new SoftError(19, 'verbs_soft_device_name', native().lastError()); // ENODEV
  const nic = new SoftNic(name);
  nic.stats(); // says so if there is no such device
  return nic;
}

/** One device of the software NIC, beside its verbs: faults, captures, counters, addresses and link. Made by {@link softNic}. */
export class SoftNic {
  /** As the configuration has it: 'soft0'. */
  readonly name: string;
  /** What happens to the device's frames on their way. */
  readonly faults: Faults;

  /** Use {@link softNic}. */
  constructor(name: string) {
    this.name = name;
    this.faults = new Faults(name);
  }

  /**
   * The counters since the device was configured. Those of the NIC have the names of `rdma statistic` (sent_pkts,
   * rcvd_pkts, retransmitted_pkts, …), those of its links begin with `link_` and `fault_`. Wraps `verbs_soft_stats`.
   *
   * @throws SoftError ENODEV if the configuration has changed and the device is gone.
   * @example
   * const { sent_pkts, retransmitted_pkts } = softNic().stats();
   */
  stats(): Record<string, bigint> {
    const counters = native().stats(this.name);
    if (typeof counters === 'number') throw new SoftError(counters, 'verbs_soft_stats', native().lastError());
    return counters;
  }

  /**
   * Writes what the device sends and receives to a pcapng file, from now on or, if it is not open, from its next open on,
   * in place of a running capture. A device with several ports writes a file for each. Wraps `verbs_soft_capture_start`.
   *
   * @throws SoftError why the file cannot be written; RangeError.
   * @example
   * const capture = nic.capture('run-%p.pcapng', { maxBytes: 32 << 20 });
   * // …
   * capture.stop(); // or `using capture = …`
   */
  capture(path: string, options: CaptureOptions = {}): Capture {
    return new Capture(this.name, path, options);
  }

  /**
   * Takes the link of a port down: its state is DOWN, IBV_EVENT_PORT_ERR is told, and nothing enters or leaves it, so
   * that queue pairs run into their timeouts (IBV_WC_RETRY_EXC_ERR). Wraps `verbs_soft_set_link`.
   *
   * @param port from 1; without it all ports of the device.
   * @throws SoftError EINVAL if there is no such port.
   */
  setLinkDown(port?: number): void {
    this.#setLink(port, false);
  }

  /** Takes the link of a port up again: its state is ACTIVE, IBV_EVENT_PORT_ACTIVE is told. See {@link setLinkDown}. */
  setLinkUp(port?: number): void {
    this.#setLink(port, true);
  }

  /**
   * Adds an address of this machine to the GID table of a port, in its first empty entry, until the device is closed.
   * IBV_EVENT_GID_CHANGE is told. Wraps `verbs_soft_add_gid`.
   *
   * @returns the index of the entry.
   * @throws SoftError ENOTCONN if the device is not open, EADDRNOTAVAIL if it is not an address of this machine,
   *   EADDRINUSE if somebody has it, ENOSPC if the table is full, EINVAL.
   * @example
   * const index = nic.addGid('127.0.0.9');
   */
  addGid(address: string, port = 1): number {
    const added = native().addGid(this.name, portNumber(port), address);
    if (typeof added === 'number') throw new SoftError(added, 'verbs_soft_add_gid', native().lastError());
    return added.index;
  }

  /**
   * Takes an address out of the GID table of a port; its entry is empty from then on. Queue pairs and address handles
   * that were set up with it reach nobody any more. IBV_EVENT_GID_CHANGE is told. Wraps `verbs_soft_remove_gid`.
   *
   * @throws SoftError ENOENT if the port does not have it, ENOTCONN, EINVAL.
   */
  removeGid(address: string, port = 1): void {
    check(native().removeGid(this.name, portNumber(port), address), 'verbs_soft_remove_gid');
  }

  /**
   * Sets the active MTU in bytes. Datagrams and new connections follow it, existing connections keep theirs; as in the
   * kernel no event is told. Wraps `verbs_soft_set_mtu`.
   *
   * @param port from 1; without it all ports of the device.
   * @throws SoftError EINVAL.
   */
  setMtu(mtu: 256 | 512 | 1024 | 2048 | 4096, port?: number): void {
    const bytes = natural('mtu', mtu, 4096n);
    check(native().setMtu(this.name, portNumber(port), bytes), 'verbs_soft_set_mtu');
  }

  /**
   * Lets the device fail: all its queue pairs go to the error state, their work is flushed, and IBV_EVENT_DEVICE_FATAL is
   * told. New queue pairs work. Wraps `verbs_soft_fail`.
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

/** 0 stands for all ports. */
function portNumber(port: number | undefined): bigint {
  return port === undefined ? 0n : natural('port', port, 255n, 1n);
}
