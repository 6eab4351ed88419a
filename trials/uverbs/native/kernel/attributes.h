// What the emulated device says of itself.
#pragma once

#include <rdma/ib_user_verbs.h>

#include <cstdint>

namespace verbs::uverbs {

constexpr std::uint32_t kCompVectors = 4;
constexpr std::uint32_t kGids = 4;

ib_uverbs_query_device_resp device_attributes();
ib_uverbs_query_port_resp port_attributes();

}  // namespace verbs::uverbs
