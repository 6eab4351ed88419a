// The query slots of a context.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

namespace verbs::soft::abi {

int query_port(ibv_context* context, std::uint8_t port_num, ibv_port_attr* attr, std::size_t size);
int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input, ibv_device_attr_ex* attr,
                    std::size_t size);
// The raw clock, in ticks of hca_core_clock.
int query_rt_values(ibv_context* context, ibv_values_ex* values);

}  // namespace verbs::soft::abi
