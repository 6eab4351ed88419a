// RC queue pairs, up to the state in which they send.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "model/base/gid.h"

namespace verbs::doca_comm::model {

struct ReliablePath {
  Gid gid{};
  std::uint32_t qpn = 0;
  std::uint32_t own_psn = 0;
  std::uint32_t psn = 0;
  std::uint8_t mtu = 0;  // enum ibv_mtu
};

// 0 or errno. The queue pair is in INIT; it is there even if that failed.
int create_reliable(ibv_pd* pd, const ibv_qp_init_attr& init, ibv_qp** qp);
// 0 or errno.
int connect_reliable(ibv_qp* qp, const ReliablePath& path);
// A packet sequence number that nobody can guess. 0 or errno.
int random_psn(std::uint32_t* psn);

}  // namespace verbs::doca_comm::model
