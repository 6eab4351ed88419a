import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// src/ and dist/ both lie right below the package's root.
const lib = join(dirname(fileURLToPath(import.meta.url)), '..', 'build', 'lib');

/**
 * The model of these devices for the software NIC: what `verbs run` and `dropInDirectory()` of @verbs/soft take.
 *
 * A device of the configuration is one by `kind=mlx5`. Its options are the limits of its steering, with the names of
 * the device's own capability block (`max_encap_header_size=128`, `max_modify_header_actions`, `max_ft_level`,
 * `log_max_packet_reformat_context`, `log_max_ft_size`, `log_max_ft_num`, `log_max_flow`, `log_max_flow_counter`),
 * capabilities to switch off (`decap=0`, `encap_general_header=0`, `reformat_l3_tunnel_to_l2=0`,
 * `reformat_l2_to_l3_tunnel=0`, `nic_rx_multi_path_tirs=0`), `mtu_check=0`, with which a frame that an encapsulation
 * makes longer than the port's frames may be is not dropped, and `strict=1`, with which flows need CAP_NET_RAW as they
 * do on hardware.
 */
export const softModel = {
  /** What `kind=` says in the configuration of a device. */
  kind: 'mlx5',
  /** The model's library, for loading by this path. */
  library: join(lib, 'libverbs-soft-mlx5.so.1'),
  /** The folder with the model under the vendor's own name, `libmlx5.so.1`. */
  dropIn: join(lib, 'dropin'),
} as const;
