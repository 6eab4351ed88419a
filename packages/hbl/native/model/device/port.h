// A port: its extended attributes, and which of its numbered objects exist.
#pragma once

#include <array>
#include <cstdint>

#include "model/device/profile.h"

namespace verbs::hbl::model {

struct Encap;
struct UsrFifo;

struct Port {
  bool closed = false;
  bool set = false;
  bool advanced = false;
  std::uint32_t wqs = 0, wqes = 0;  // of the generic work queue array; 0: there is none
  std::array<Encap*, kEncapsPerPort> encaps{};
  std::array<UsrFifo*, kFifosPerPort> fifos{};
  std::uint32_t cqs = 0;
  bool has_cc_cq = false;
};

}  // namespace verbs::hbl::model
