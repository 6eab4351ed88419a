// Every option of the model's devices: its largest value, and what is no value of it.
import { listDevices } from '@verbs/core';
import { configure, lastError } from '@verbs/soft';
import { describe, expect, it } from 'vitest';
import { open } from './helpers/devices.js';

const LARGEST = {
  ports: 63,
  max_encap_header_size: 1023,
  max_modify_header_actions: 255,
  max_ft_level: 255,
  log_max_packet_reformat_context: 24,
  log_max_modify_header_context: 24,
  log_max_ft_size: 24,
  log_max_ft_num: 24,
  log_max_flow: 24,
  log_max_flow_counter: 24,
  decap: 1,
  encap_general_header: 1,
  reformat_l3_tunnel_to_l2: 1,
  reformat_l2_to_l3_tunnel: 1,
  nic_rx_multi_path_tirs: 1,
  mtu_check: 1,
  cap_net_raw: 1,
};

/** The message for a device that is not there for its options. */
function rejection(option: string): string | undefined {
  try {
    configure(`mlx5_bad,kind=mlx5,${option}`);
  } catch (error) {
    return String(error);
  }
  return listDevices({ library: 'soft' }).some(({ name }) => name === 'mlx5_bad') ? undefined : lastError();
}

describe('the options of a device', () => {
  it.each(Object.entries(LARGEST))('%s is taken up to %i, and nothing else is', (name, largest) => {
    const smallest = name === 'ports' ? 1 : 0;
    for (const value of [smallest, largest]) {
      const ctx = open(`${name}=${value}`);
      expect(ctx.closed).toBe(false);
      ctx.close();
    }
    for (const value of [smallest - 1, largest + 1, 2 ** 32 + 1, '0x1', '1.5', 'one']) {
      expect(rejection(`${name}=${value}`)).toContain(`${name}=${value}`);
    }
  });
});
