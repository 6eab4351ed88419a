#include "model/device/device.h"

#include <atomic>
#include <mutex>

#include "model/flow/entry.h"

namespace verbs::mlx5 {

namespace {

// A list that only grows, so that readers need no lock. Few devices are ever in it.
struct Node {
  Device device;
  Node* next;
};
std::atomic<Node*> first{nullptr};
std::mutex growing;

}  // namespace

Device* find_device(const ibv_device* face) {
  for (Node* node = first.load(std::memory_order_acquire); node; node = node->next) {
    if (node->device.face == face) return &node->device;
  }
  return nullptr;
}

Device& add_device(ibv_device* face) {
  const std::lock_guard guard(growing);
  if (Device* known = find_device(face)) return *known;
  Node* node = new Node{.device = Device(face), .next = first.load(std::memory_order_relaxed)};
  first.store(node, std::memory_order_release);
  return node->device;
}

}  // namespace verbs::mlx5
