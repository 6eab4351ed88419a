// A queue pair's share of its encapsulation.
#pragma once

#include <memory>

#include "binding/library.h"

namespace verbs::hbl::binding {

using EncapShare = std::shared_ptr<void>;

// The share of an open encapsulation. False with a TypeError pending for anything else.
bool encap_of(const Arguments& arguments, std::size_t index, EncapShare* share);
// The queue pair keeps it until it was destroyed or reset. 0 or ENOMEM.
int keep_encap(verbs_core_object* qp, const EncapShare& share);

}  // namespace verbs::hbl::binding
