// The RAW_PACKET queue pairs: where flows deliver to.
#pragma once

#include <atomic>

#include "model/device/context.h"
#include "model/device/objects.h"

namespace verbs::mlx5 {

struct RawQp : Counted {
  RawQp(ibv_qp* its_face, Context& its_owner) : face(its_face), owner(&its_owner) {}

  ibv_qp* const face;
  Context* const owner;
  // Under the device's lock: the port that it was bound to, 0 before. Frames of other ports are not for it.
  std::uint8_t port_num = 0;
};

// nullptr: no living RAW_PACKET queue pair of the model.
RawQp* find_qp(const ibv_qp* face);
RawQp* find_qp(const Context& context, std::uint32_t qp_num);

// Puts the functions in place by which the model knows the queue pairs of a context.
void install_qp_verbs(verbs_soft_verbs& control);
void forget_qps(Context& context);

}  // namespace verbs::mlx5
