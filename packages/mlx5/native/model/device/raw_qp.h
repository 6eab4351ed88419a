// RAW_PACKET queue pairs, the destinations of flows.
#pragma once

#include <atomic>

#include "model/device/context.h"
#include "model/device/objects.h"

namespace verbs::mlx5::model {

struct RawQp : Counted {
  explicit RawQp(Context& its_owner) : owner(&its_owner) {}

  ibv_qp* ibv = nullptr;
  Context* const owner;
  // The port of the queue pair; 0 before INIT. It receives frames of this port only. Under the device's lock.
  std::uint8_t port_num = 0;
};

// nullptr if it is not a living RAW_PACKET queue pair of the model.
RawQp* find_qp(const ibv_qp* ibv);
RawQp* find_qp(const Context& context, std::uint32_t qp_num);

// Replaces the NIC's verbs of queue pairs, so that the model knows them.
void install_qp_verbs(verbs_soft_verbs& control);
void forget_qps(Context& context);

}  // namespace verbs::mlx5::model
