// The path of frames: from a queue pair through the transmit tables to the wire, and from the wire through the receive
// tables to queue pairs.
#pragma once

#include "model/device/context.h"

namespace verbs::mlx5::model {

// Members of verbs_soft_model. Called under the device's lock.
void raw_send(void* data, ibv_device* device, std::uint8_t port_num, ibv_qp* qp, verbs_soft_frame* frame);
void raw_receive(void* data, ibv_device* device, std::uint8_t port_num, verbs_soft_frame* frame);

}  // namespace verbs::mlx5::model
