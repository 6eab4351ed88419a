#include "host/adapter/management.h"

#include <random>

namespace verbs::soft::host {
namespace {

std::uint64_t random_seed() {
  std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32 | device();
}

}  // namespace

Management::Management(std::uint64_t guid) : manager_({.guid = guid, .seed = random_seed()}, *this) {}

}  // namespace verbs::soft::host
