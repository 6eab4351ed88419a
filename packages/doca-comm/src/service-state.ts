import type { End } from './end.js';
import type { ServiceState } from './endpoint-types.js';
import { checked, DocaStatus } from './errors.js';
import type { Peers } from './peers.js';

/** `doca_comm_channel_ep_update_service_state_info`, and the getters of its results. */
export function serviceState(end: End, peers: Peers): ServiceState | undefined {
  if (end.updateService === undefined) return undefined;
  const status = -end.updateService();
  const syscall = end.syscall('update_service_state_info');
  if (status !== DocaStatus.AGAIN) checked(-status, syscall);
  const numbers = checked<number[]>(end.peerList(), end.syscall('get_peer_addr_list'));
  const pendingConnections = end.pendingConnections();
  checked(pendingConnections, end.syscall('get_pending_connections'));
  return { peers: numbers.map((number) => peers.of(number)), pendingConnections };
}
