#include "kernel/attributes.h"

#include <endian.h>

namespace verbs::uverbs {

ib_uverbs_query_device_resp device_attributes() {
  ib_uverbs_query_device_resp device{};
  device.fw_ver = (std::uint64_t{22} << 32) | (35 << 16) | 1012;
  device.node_guid = htobe64(0x0200'00ff'fe00'0001);
  device.sys_image_guid = device.node_guid;
  device.max_mr_size = ~std::uint64_t{0};
  device.page_size_cap = 0xfffffffffffff000;
  device.vendor_id = 0x02c9;
  device.vendor_part_id = 4125;
  device.max_qp = 131072;
  device.max_qp_wr = 32768;
  device.device_cap_flags = 0xed721c36;
  device.max_sge = 30;
  device.max_sge_rd = 30;
  device.max_cq = 65536;
  device.max_cqe = 4194303;
  device.max_mr = 16777216;
  device.max_pd = 8388608;
  device.max_qp_rd_atom = 16;
  device.max_res_rd_atom = 2097152;
  device.max_qp_init_rd_atom = 16;
  device.atomic_cap = 1;
  device.max_mw = 16777216;
  device.max_mcast_grp = 2097152;
  device.max_mcast_qp_attach = 240;
  device.max_total_mcast_qp_attach = 503316480;
  device.max_ah = 0x7fffffff;
  device.max_srq = 8388608;
  device.max_srq_wr = 32767;
  device.max_srq_sge = 31;
  device.max_pkeys = 128;
  device.local_ca_ack_delay = 16;
  device.phys_port_cnt = 1;
  return device;
}

ib_uverbs_query_port_resp port_attributes() {
  ib_uverbs_query_port_resp port{};
  port.port_cap_flags = 0x04010000;
  port.max_msg_sz = 0x40000000;
  port.gid_tbl_len = kGids;
  port.pkey_tbl_len = 1;
  port.state = 4;  // ACTIVE
  port.max_mtu = 5;
  port.active_mtu = 3;
  port.max_vl_num = 1;
  port.active_width = 2;
  port.active_speed = 32;
  port.phys_state = 5;  // LINK_UP
  port.link_layer = 2;  // ETHERNET
  port.flags = 1;       // GRH required
  return port;
}

}  // namespace verbs::uverbs
