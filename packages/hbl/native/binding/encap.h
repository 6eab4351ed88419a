// A queue pair's share of its encapsulation.
#pragma once

#include <memory>

#include "binding/library.h"

namespace verbs::hbl::binding {

using EncapShare = std::shared_ptr<void>;

// The share of an open encapsulation. TypeError for anything else.
EncapShare encap_of(Napi::Value value);
// The queue pair keeps it until it was destroyed or reset. 0 or ENOMEM.
int keep_encap(verbs_core_object* qp, const EncapShare& share);

}  // namespace verbs::hbl::binding
