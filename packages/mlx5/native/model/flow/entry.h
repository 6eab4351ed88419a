// An entry of a root table: one match and the flows that share it, as flows share an entry in the kernel.
#pragma once

#include <list>
#include <memory>
#include <span>

#include "model/flow/matcher.h"
#include "model/flow/request.h"
#include "steering/pipeline/flow_table.h"

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
  // Removes a flow. Removing the last one destroys the entry.
  int remove(FlowRequest* request);

 private:
  using Requests = std::list<std::unique_ptr<FlowRequest>>;

  FlowEntry(Context& context, std::shared_ptr<steering::FlowTable> table, steering::Matcher& matcher)
      : context_(context), table_(std::move(table)), matcher_(matcher) {}

  struct Match {
    std::span<const std::uint8_t> mask, value;
  };
  static FlowEntry* create(Device& device, Context& context, const std::shared_ptr<steering::FlowTable>& table,
                           steering::Matcher* group, const Match& match, std::unique_ptr<FlowRequest> request);
  void share(std::unique_ptr<FlowRequest> request);

  bool conflicts(const FlowRequest& request) const;
  steering::ActionList actions() const;

  Context& context_;
  const std::shared_ptr<steering::FlowTable> table_;
  steering::Matcher& matcher_;
  steering::Rule* rule_ = nullptr;
  Requests requests_;
};

}  // namespace verbs::mlx5::model
