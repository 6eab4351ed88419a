// Calls of the extension table: raw packets. See verbs_soft_extension.h.
#pragma once

#include <cstdint>

#include "verbs_soft_extension.h"

namespace verbs::soft::abi {

int transmit_frame(ibv_device* device, std::uint8_t port_num, const verbs_soft_frame* frame);
int deliver_frame(ibv_qp* qp, const verbs_soft_frame* frame, const verbs_soft_delivery* delivery);
std::uint32_t frame_limit(ibv_device* device, std::uint8_t port_num);
int lock_device(ibv_context* context);
void unlock_device(ibv_context* context);
int port_mac(const ibv_device* device, std::uint8_t port_num, std::uint8_t* mac);
int set_self_loopback(ibv_qp* qp, int allowed);
std::uint64_t* model_counter(ibv_device* device, const char* name);

}  // namespace verbs::soft::abi
