// Two ends of librdmacm in one process, at the address of the tests' device.
#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <rdma/rdma_cma.h>

#include <cstdint>

namespace verbs::rdmacm::test {

inline constexpr std::uint16_t kPort = 7471;

inline sockaddr_in service() {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_port = htons(kPort);
  inet_pton(AF_INET, "10.77.1.1", &made.sin_addr);
  return made;
}

inline rdma_cm_id* new_id(rdma_event_channel* channel) {
  rdma_cm_id* id = nullptr;
  REQUIRE(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP) == 0);
  return id;
}

inline rdma_cm_id* new_listener(rdma_event_channel* channel) {
  rdma_cm_id* id = new_id(channel);
  sockaddr_in own = service();
  REQUIRE(rdma_bind_addr(id, reinterpret_cast<sockaddr*>(&own)) == 0);
  REQUIRE(rdma_listen(id, 4) == 0);
  return id;
}

// Synchronous, with a queue pair.
inline rdma_cm_id* new_caller() {
  rdma_cm_id* id = new_id(nullptr);
  sockaddr_in to = service();
  REQUIRE(rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&to), 1000) == 0);
  REQUIRE(rdma_resolve_route(id, 1000) == 0);
  ibv_qp_init_attr attr{};
  attr.qp_type = IBV_QPT_RC;
  attr.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  REQUIRE(rdma_create_qp(id, nullptr, &attr) == 0);
  return id;
}

inline void end(rdma_cm_id* id) {
  if (id->qp) rdma_destroy_qp(id);
  CHECK(rdma_destroy_id(id) == 0);
}

}  // namespace verbs::rdmacm::test
