import { errno } from '../base/errno.js';
import { check, VerbsError } from '../base/errors.js';
import { native, type NativeLibrary } from '../base/native.js';
import { integer } from '../base/validate.js';
import { enumName, EventType, type ForkStatus, NodeType, PortState, type Rate, WrOpcode } from '../enums/index.js';
import type { LibraryKind } from '../types/device.js';
import { anyLibrary, loadLibrary } from './libraries.js';

/**
 * `ibv_event_type_str`: the meaning of an {@link EventType}; its name where there is no library.
 *
 * @throws TypeError, RangeError if it is not a 32-bit integer
 */
export function eventTypeText(type: EventType): string {
  return text(type, 'type', EventType, (library) => native.eventTypeText(library, type));
}

/** `ibv_node_type_str`: the meaning of a {@link NodeType}; its name where there is no library. */
export function nodeTypeText(type: NodeType): string {
  return text(type, 'type', NodeType, (library) => native.nodeTypeText(library, type));
}

/** `ibv_port_state_str`: the meaning of a {@link PortState}; its name where there is no library. */
export function portStateText(state: PortState): string {
  return text(state, 'state', PortState, (library) => native.portStateText(library, state));
}

/** `ibv_wr_opcode_str`: the meaning of a {@link WrOpcode}; its name where no library has the function, of release 50. */
export function wrOpcodeText(opcode: WrOpcode): string {
  const known = (library: NativeLibrary) => native.wrOpcodeText(library, opcode) ?? enumName(WrOpcode, opcode);
  return text(opcode, 'opcode', WrOpcode, known);
}

/**
 * `ibv_rate_to_mult`: a {@link Rate} as a multiple of 2.5 Gbit/s; -1 for a rate that is not a multiple, for instance
 * GBPS_100.
 *
 * @throws VerbsError ENODEV where no libibverbs is found; the other conversions of rates too
 * @example rateToMult(Rate.GBPS_40); // 16
 */
export function rateToMult(rate: Rate): number {
  return convert(rate, 'rate', (library) => native.rateToMult(library, rate));
}

/** `mult_to_ibv_rate`: the {@link Rate} of a multiple of 2.5 Gbit/s; MAX if there is none. */
export function multToRate(multiple: number): Rate {
  return convert(multiple, 'multiple', (library) => native.multToRate(library, multiple));
}

/** `ibv_rate_to_mbps`: a {@link Rate} in Mbit/s on the wire: 103125 for GBPS_100; -1 for an unknown rate. */
export function rateToMbps(rate: Rate): number {
  return convert(rate, 'rate', (library) => native.rateToMbps(library, rate));
}

/**
 * `mbps_to_ibv_rate`: the {@link Rate} of a number of Mbit/s; MAX if there is none.
 *
 * @example mbpsToRate(103_125) === Rate.GBPS_100; // as rateToMbps has it
 */
export function mbpsToRate(mbps: number): Rate {
  return convert(mbps, 'mbps', (library) => native.mbpsToRate(library, mbps));
}

/**
 * `ibv_flow_label_to_udp_sport`: the UDP source port of RoCE v2 packets with that flow label (20 bits), 49152 to 65535.
 *
 * @throws RangeError for more than 20 bits
 * @example flowLabelToUdpSport(0x12345);
 */
export function flowLabelToUdpSport(flowLabel: number): number {
  integer(flowLabel, 'flowLabel', 0, 0xfffff);
  return (((flowLabel & 0x03fff) ^ ((flowLabel & 0xfc000) >> 14)) | 0xc000) >>> 0;
}

/**
 * `ibv_fork_init`: makes `fork()` safe for memory that is registered from now on. Call it before anything else. Node's
 * own child processes do not need it: they execute another program at once.
 *
 * @throws VerbsError EINVAL (too late: memory is registered already), ENODEV (no such library), ENOSYS
 */
export function forkInit(library: LibraryKind = 'system'): void {
  check(-Math.abs(native.forkInit(loaded(library, 'ibv_fork_init'))), 'ibv_fork_init');
}

/** `ibv_is_fork_initialized`: a {@link ForkStatus}. @throws VerbsError ENODEV (no such library), ENOSYS (an old one) */
export function isForkInitialized(library: LibraryKind = 'system'): ForkStatus {
  const syscall = 'ibv_is_fork_initialized';
  const status = native.isForkInitialized(loaded(library, syscall));
  check(status, syscall);
  return status;
}

function text(
  value: unknown,
  path: string,
  names: Readonly<Record<string, number>>,
  call: (library: NativeLibrary) => string,
): string {
  const number = integer(value, path, -0x80000000, 0x7fffffff);
  const library = anyLibrary();
  return library === undefined ? enumName(names, number) : call(library);
}

function convert(value: unknown, path: string, call: (library: NativeLibrary) => number): number {
  integer(value, path, -0x80000000, 0x7fffffff);
  const library = anyLibrary();
  if (library === undefined) throw new VerbsError(errno.ENODEV, 'ibv_rate', { hint: 'no libibverbs was found' });
  return call(library);
}

function loaded(kind: LibraryKind, syscall: string): NativeLibrary {
  const attempt = loadLibrary(kind);
  if ('handle' in attempt) return attempt.handle;
  throw new VerbsError(errno.ENODEV, syscall, { hint: attempt.reason });
}
