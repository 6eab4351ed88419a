// An encapsulation: a tunnel of the NIC, and the number by which queue pairs name it.
#pragma once

#include <cstdint>

#include "hbldv.h"
#include "verbs_soft_extension.h"

namespace verbs::hbl::model {

struct Encap {
  hbldv_encap hbldv{};  // the structure that the program has
  std::uint32_t port_num = 0;
  std::uint32_t slot = 0;
  verbs_soft_tunnel* tunnel = nullptr;
};

}  // namespace verbs::hbl::model
