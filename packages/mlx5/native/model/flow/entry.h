// An entry of a root table: one match and the flows that share it, as flows share an entry in the kernel.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <span>

#include "model/device/device.h"
#include "model/device/objects.h"
#include "model/flow/request.h"
#include "steering/packet/match_layout.h"
#include "steering/pipeline/matcher.h"

// Flow matchers: a mask for a table type and a priority.

// mlx5dv.h declares this type without a definition.
struct mlx5dv_flow_matcher : verbs::mlx5::model::Counted {
  verbs::mlx5::model::Context* owner = nullptr;
  verbs::mlx5::model::Direction direction = verbs::mlx5::model::Direction::kReceive;
  std::uint16_t priority = 0;
  // The mask of the attributes, and the mask restricted to the enabled criteria.
  std::array<std::uint8_t, verbs::mlx5::steering::kMatchSize> given{};
  std::array<std::uint8_t, verbs::mlx5::steering::kMatchSize> mask{};
};

namespace verbs::mlx5::model {

using FlowMatcher = mlx5dv_flow_matcher;

FlowMatcher* find_flow_matcher(const mlx5dv_flow_matcher* handle);
void forget_flow_matchers(Context& context);

// The bytes of match parameters; empty if they are too long.
std::span<const std::uint8_t> match_bytes(const mlx5dv_flow_match_parameters& parameters);

}  // namespace verbs::mlx5::model

namespace verbs::mlx5::model {

// Priorities of each table type, from 0.
inline constexpr std::uint32_t kPriorities = 16;

class FlowEntry {
 public:
  // Adds the request to the tables of the matcher's device: to an entry with this match, or to a new one. nullptr and
  // errno on failure.
  static FlowEntry* insert(const FlowMatcher& matcher, std::span<const std::uint8_t> value,
                           std::unique_ptr<FlowRequest> request, FlowRequest** inserted);
  std::uint64_t hits() const { return rule_->hits(); }
  // Removes a flow of the context, or none if memory is short. Removing the last one destroys the entry.
  int remove(const Context& context, FlowRequest* request);
  // The same when the context ends, which needs no memory: without it, frames of the flows that are left go where
  // frames without a flow go, until one of these flows changes.
  int forget(const Context& context, FlowRequest* request) noexcept;

 private:
  using Requests = std::list<std::unique_ptr<FlowRequest>>;

  FlowEntry(Device& device, std::shared_ptr<steering::FlowTable> table, steering::Matcher& matcher)
      : device_(device), table_(std::move(table)), matcher_(matcher) {}

  struct Match {
    std::span<const std::uint8_t> mask, value;
  };
  static FlowEntry* create(Device& device, const std::shared_ptr<steering::FlowTable>& table, steering::Matcher* group,
                           const Match& match, std::unique_ptr<FlowRequest> request);
  void share(std::unique_ptr<FlowRequest> request);
  template <typename Failed>
  int remove(const Context& context, FlowRequest* request, Failed&& failed);

  bool conflicts(const FlowRequest& request) const;
  steering::ActionList actions() const;

  Device& device_;  // its flows may be of several contexts
  const std::shared_ptr<steering::FlowTable> table_;
  steering::Matcher& matcher_;
  steering::Rule* rule_ = nullptr;
  Requests requests_;
};

}  // namespace verbs::mlx5::model
