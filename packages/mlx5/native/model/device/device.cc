#include "model/device/device.h"

#include <atomic>
#include <mutex>

namespace verbs::mlx5::model {
namespace {

// A list that only grows, so that readers need no lock. It holds few devices.
struct Node {
  Device device;
  Node* next;
};
std::atomic<Node*> first{nullptr};
std::mutex growing;

}  // namespace

Device* find_device(const ibv_device* ibv) {
  for (Node* node = first.load(std::memory_order_acquire); node; node = node->next) {
    if (node->device.ibv == ibv) return &node->device;
  }
  return nullptr;
}

Device& add_device(ibv_device* ibv) {
  const std::lock_guard guard(growing);
  if (Device* known = find_device(ibv)) return *known;
  Node* node = new Node{.device = Device(ibv), .next = first.load(std::memory_order_relaxed)};
  first.store(node, std::memory_order_release);
  return node->device;
}

}  // namespace verbs::mlx5::model
