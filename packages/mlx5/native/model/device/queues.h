// Queues with the options of mlx5dv, and the raw queue pairs among them, whose frames go through the steering.
#pragma once

#include <atomic>

#include "model/device/device.h"
#include "model/device/objects.h"

namespace verbs::mlx5::model {

// RAW_PACKET queue pairs and receive work queues, the destinations of flows.

struct RawQp : Counted {
  explicit RawQp(Context& its_owner) : owner(&its_owner) {}

  std::uint32_t number() const { return wq ? wq->wq_num : ibv->qp_num; }

  ibv_qp* ibv = nullptr;
  ibv_wq* wq = nullptr;  // instead of a queue pair
  bool spreads = false;  // a queue pair that gives its frames to receive work queues
  Context* const owner;
  // The port of the queue pair; 0 before INIT. It receives frames of this port only; a receive work queue and a queue
  // pair that spreads have none, and receive those of all. Under the device's lock.
  std::uint8_t port_num = 0;
};

// nullptr if it is not a living RAW_PACKET queue pair of the model.
RawQp* find_qp(const ibv_qp* ibv);
// Whose receive queue has that number.
RawQp* find_receive_queue(const Context& context, std::uint32_t number);

// Replaces the NIC's verbs of queue pairs and receive work queues, so that the model knows them.
void install_qp_verbs(Context& context, verbs_soft_verbs& control, verbs_context& verbs);
void forget_qps(Context& context);

// The path of frames: from a queue pair through the transmit tables to the wire, and from the wire through the receive
// tables to queue pairs.

// Members of verbs_soft_model. Called under the device's lock.
void raw_send(void* data, ibv_device* device, std::uint8_t port_num, ibv_qp* qp, verbs_soft_frame* frame);
void raw_receive(void* data, ibv_device* device, std::uint8_t port_num, verbs_soft_frame* frame);
// The size of a RoCE packet that its tables let pass, and 0 for another one.
std::uint32_t rdma_send(void* data, ibv_device* device, std::uint8_t port_num, std::uint8_t* packet, std::uint32_t size,
                        std::uint32_t capacity);
std::uint32_t rdma_receive(void* data, ibv_device* device, std::uint8_t port_num, std::uint8_t* packet,
                           std::uint32_t size, std::uint32_t capacity);

}  // namespace verbs::mlx5::model
