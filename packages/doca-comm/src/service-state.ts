import type { ServiceState } from './endpoint-types.js';
import { checked, DocaStatus } from './errors.js';
import { native, type EndpointHandle } from './native.js';
import type { Peers } from './peers.js';

/** `doca_comm_channel_ep_update_service_state_info`, and the getters of its results. */
export function serviceState(handle: EndpointHandle, peers: Peers): ServiceState {
  const status = -native.updateService(handle);
  if (status !== DocaStatus.AGAIN) checked(-status, 'doca_comm_channel_ep_update_service_state_info');
  const numbers = checked<number[]>(native.peerList(handle), 'doca_comm_channel_ep_get_peer_addr_list');
  const pendingConnections = native.pendingConnections(handle);
  checked(pendingConnections, 'doca_comm_channel_ep_get_pending_connections');
  return { peers: numbers.map((number) => peers.of(number)), pendingConnections };
}
