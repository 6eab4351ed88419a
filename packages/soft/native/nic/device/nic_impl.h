// The inside of a Nic, for the files that implement its calls theme by theme.
#pragma once

#include "nic/device/core.h"

namespace verbs::soft::nic {

struct Nic::Impl {
  Impl(NicConfig config, EventSink& events) : core(std::move(config), events) {}
  Core core;
};

}  // namespace verbs::soft::nic
