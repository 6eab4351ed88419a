import { type SoftModel, softModelAt } from '@verbs/core/provider';

/**
 * The model of these devices for the software NIC, for `verbs run` and for `dropInDirectory()` of @verbs/soft.
 *
 * A device of the configuration is an mlx5 device by `kind=mlx5`. Options:
 *
 * - the limits of its steering, with the names of the device's own capability block: `max_encap_header_size=128`,
 *   `max_modify_header_actions`, `max_ft_level`, `log_max_packet_reformat_context`, `log_max_ft_size`,
 *   `log_max_ft_num`, `log_max_flow`, `log_max_flow_counter`
 * - capabilities to switch off: `decap=0`, `encap_general_header=0`, `reformat_l3_tunnel_to_l2=0`,
 *   `reformat_l2_to_l3_tunnel=0`, `nic_rx_multi_path_tirs=0`
 * - `mtu_check=0`: the model does not drop a frame that an encapsulation makes longer than the port allows
 * - `cap_net_raw=1`: flows need CAP_NET_RAW, as on hardware
 */
export const softModel: SoftModel<'mlx5'> = softModelAt({
  name: '@verbs/mlx5',
  kind: 'mlx5',
  library: 'libverbs-soft-mlx5.so.1',
  from: import.meta.url,
});
