// An event on its way from the connection manager to the program.
#pragma once

#include <rdma/rdma_cma.h>

#include <array>
#include <cstdint>
#include <set>

namespace verbs::rdmacm::model {

struct Id;

struct Event {
  rdma_cm_event ibv{};  // what the program gets; first
  Id* id = nullptr;     // the identifier that counts it: of a request, the listening one
  std::array<std::uint8_t, 256> data{};
  std::set<const Event*> self{this};  // becomes a part of the library's set, which needs no memory then
};

}  // namespace verbs::rdmacm::model
