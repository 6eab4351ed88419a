#include "model/device/doorbell_drops.h"

#include <atomic>
#include <cerrno>

#include "model/device/context.h"

namespace verbs::hbl::model {

namespace {

constexpr std::array<const char*, kDoorbellDrops> kNames{"doorbells_wrong_port", "doorbells_no_qp",
                                                         "doorbells_no_work_queue"};

// A list that only grows, so that neither a reader nor a fork needs a lock. It holds few devices.
struct Node {
  const ibv_device* device;
  DoorbellDrops drops;
  Node* next;
};
std::atomic<Node*> first{nullptr};

}  // namespace

int add_doorbell_drops(ibv_device* device) {
  DoorbellDrops drops{};
  for (std::size_t i = 0; i < kDoorbellDrops; ++i) {
    drops[i] = soft()->counter(device, kNames[i]);
    if (!drops[i]) return ENOMEM;
  }
  Node* node = new Node{.device = device, .drops = drops, .next = first.load(std::memory_order_relaxed)};
  while (!first.compare_exchange_weak(node->next, node, std::memory_order_release)) continue;
  return 0;
}

const DoorbellDrops* find_doorbell_drops(const ibv_device* device) {
  for (const Node* node = first.load(std::memory_order_acquire); node; node = node->next) {
    if (node->device == device) return &node->drops;
  }
  return nullptr;
}

}  // namespace verbs::hbl::model
