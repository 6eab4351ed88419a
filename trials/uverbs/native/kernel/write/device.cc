#include <endian.h>
#include <rdma/ib_user_verbs.h>

#include "kernel/attributes.h"
#include "kernel/create.h"
#include "kernel/drivers/driver.h"
#include "kernel/write/handlers.h"

namespace verbs::uverbs {

int get_context(Call& call) {
  const int error = driver().get_context(call.context, call.driver_request, call.driver_response);
  if (error != 0) return error;
  const EventDescriptor events = make_event_descriptor();
  call.context.async_writer = events.writer;
  ib_uverbs_get_context_resp response{};
  response.async_fd = static_cast<std::uint32_t>(events.program);
  response.num_comp_vectors = kCompVectors;
  call.response.put(response);
  return 0;
}

int query_device(Call& call) {
  call.response.put(device_attributes());
  return 0;
}

int query_device_ex(Call& call) {
  ib_uverbs_ex_query_device_resp response{};
  response.base = device_attributes();
  response.response_length = sizeof(response);
  response.timestamp_mask = ~std::uint64_t{0};
  response.hca_core_clock = 1000000;
  response.device_cap_flags_ex = response.base.device_cap_flags;
  response.rss_caps.supported_qpts = 1U << 8;  // RAW_PACKET
  response.rss_caps.max_rwq_indirection_tables = 1024;
  response.rss_caps.max_rwq_indirection_table_size = 1024;
  response.max_wq_type_rq = 8192;
  response.max_dm_size = 131072;
  call.response.put(response);
  driver().query_device(call.driver_response);
  return 0;
}

int query_port(Call& call) {
  call.response.put(port_attributes());
  return 0;
}

}  // namespace verbs::uverbs
