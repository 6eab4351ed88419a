// An event on its way from the connection manager to the program.
#pragma once

#include <rdma/rdma_cma.h>

#include <array>
#include <cstdint>

namespace verbs::rdmacm::model {

struct Id;

struct Event {
  rdma_cm_event ibv{};  // what the program gets; first
  Id* id = nullptr;     // the identifier that counts it: of a request, the listening one
  std::array<std::uint8_t, 256> data{};
};

}  // namespace verbs::rdmacm::model
