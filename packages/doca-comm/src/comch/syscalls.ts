/** Comch's functions for those of the Comm Channel, as in the facts of an error: `ROLE` is server or client. */
const functions: Record<string, string> = {
  set_device: 'ROLE_create',
  set_device_rep: 'server_create',
  listen: 'server_create',
  connect: 'client_create',
  disconnect: 'server_disconnect',
  sendto: 'ROLE_task_send_alloc_init',
  recvfrom: 'ROLE_event_msg_recv_register',
  destroy: 'ROLE_destroy',
  get_max_msg_size: 'ROLE_get_max_msg_size',
  set_max_msg_size: 'ROLE_set_max_msg_size',
  get_recv_queue_size: 'ROLE_get_recv_queue_size',
  set_recv_queue_size: 'ROLE_set_recv_queue_size',
  get_send_queue_size: 'ROLE_task_send_set_conf',
  set_send_queue_size: 'ROLE_task_send_set_conf',
  peer_addr_get_user_data: 'connection_get_user_data',
  peer_addr_set_user_data: 'connection_set_user_data',
  peer_addr_update_info: 'connection_update_info',
  peer_addr_get_send_messages: 'connection_get_counter',
};

/** 'doca_comch_server_create' for 'listen'. `prefix` is that of the library. */
export function comchSyscall(prefix: string, name: string, server: boolean): string {
  const found = functions[name] ?? 'ROLE_create';
  const role = name === 'disconnect' && !server ? 'doca_ctx_stop' : prefix + found;
  return role.replace('ROLE', server ? 'server' : 'client');
}
