import type { AddressHandle, QueuePair } from '@verbs/core';
import { validate } from '@verbs/core/provider';
import { done, made } from '../base/calls.js';
import { forObject } from '../base/libraries.js';
import { native, type NativeHandle, type NativeLibrary } from '../native/index.js';

function set(
  qp: QueuePair,
  syscall: string,
  value: unknown,
  [name, max]: readonly [string, number],
  call: (library: NativeLibrary, qp: NativeHandle, value: number) => number,
): void {
  const { library, handle } = forObject(qp, 'QueuePair', 'qp', syscall);
  const number = validate.integer(value, name, 0, max);
  done(call(library, handle, number), { library, syscall, detail: `to ${number}` });
}

/**
 * `mlx5dv_query_qp_lag_port`: the queue pair's own port in the link aggregation group, and its current port.
 *
 * @throws VerbsError EOPNOTSUPP
 */
export function queryQpLagPort(qp: QueuePair): {
  /** From 1. */
  portNum: number;
  /** From 1; another port while the own port is down. */
  activePortNum: number;
} {
  const syscall = 'mlx5dv_query_qp_lag_port';
  const { library, handle } = forObject(qp, 'QueuePair', 'qp', syscall);
  return made(native.queryQpLagPort(library, handle), { library, syscall });
}

/** `mlx5dv_modify_qp_lag_port`: 1 to `numLagPorts` of {@link queryDevice}. @throws VerbsError EINVAL, EOPNOTSUPP */
export function modifyQpLagPort(qp: QueuePair, portNum: number): void {
  set(qp, 'mlx5dv_modify_qp_lag_port', portNum, ['portNum', 0xff], native.modifyQpLagPort);
}

/**
 * `mlx5dv_modify_qp_udp_sport`: the UDP source port of a connected queue pair's RoCEv2 packets, in RTS.
 *
 * @throws VerbsError EINVAL, EOPNOTSUPP
 */
export function modifyQpUdpSport(qp: QueuePair, udpSport: number): void {
  set(qp, 'mlx5dv_modify_qp_udp_sport', udpSport, ['udpSport', 0xffff], native.modifyQpUdpSport);
}

/** `mlx5dv_dci_stream_id_reset`: a failed stream of a DCI can send again. @throws VerbsError EINVAL, EOPNOTSUPP */
export function dciStreamIdReset(qp: QueuePair, streamId: number): void {
  set(qp, 'mlx5dv_dci_stream_id_reset', streamId, ['streamId', 0xffff], native.dciStreamIdReset);
}

/**
 * `mlx5dv_map_ah_to_qp`: associates the peer behind an address handle with this queue pair in the RDMA flow tables.
 *
 * @throws VerbsError EOPNOTSUPP (the device cannot, or the address handle has no GRH)
 */
export function mapAhToQp(ah: AddressHandle, qpNum: number): void {
  const syscall = 'mlx5dv_map_ah_to_qp';
  const { library, handle } = forObject(ah, 'AddressHandle', 'ah', syscall);
  validate.integer(qpNum, 'qpNum', 0, 0xffffff);
  done(native.mapAhToQp(library, handle, qpNum), { library, syscall });
}
