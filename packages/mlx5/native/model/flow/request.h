// A flow to create: the specifications that it matches, and its actions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/device/objects.h"
#include "model/device/queues.h"
#include "model/flow/action.h"
#include "steering/actions/action.h"
#include "steering/packet/match_layout.h"

struct mlx5dv_devx_obj;

namespace verbs::mlx5::model {

// The actions of a flow to create. The add functions apply the library's checks, check() the kernel's.

class DevxCounters;

class FlowRequest {
 public:
  explicit FlowRequest(Context& owner) : owner_(owner) {}

  // Add an action and apply the library's checks: 0 or errno.
  int add_qp(const ibv_qp* ibv);
  int add_devx_destination(const mlx5dv_devx_obj* handle);
  // The destination of a direct rule, and the counters before it.
  int add_steps(const std::vector<steering::Action>& steps);
  int add_drop();
  int add_default_miss();
  int add_flow_action(const ibv_flow_action* ibv);
  int add_tag(std::uint32_t tag);
  int add_counter(const mlx5dv_devx_obj* handle, std::uint32_t offset);
  int add_counter(DevxCounters* counters, std::uint32_t offset);

  // Whether there are more flow actions than the kernel's call can carry.
  bool exceeds_kernel() const;
  // The kernel's checks before it changes the tables: 0 or errno.
  int check(Direction direction) const;
  // The firmware's checks, after the kernel's checks of the tables.
  int check_firmware(Direction direction) const;

  bool drops() const { return drops_; }
  std::optional<std::uint32_t> tag() const { return tag_; }
  bool decapsulates() const { return decap_ != nullptr; }
  const std::shared_ptr<const steering::Reformat>& reformat() const { return reformat_; }
  const std::shared_ptr<const steering::ModifyHeader>& modify() const { return modify_; }
  const std::vector<std::shared_ptr<steering::Counter>>& counters() const { return counters_; }
  const std::optional<steering::Destination>& destination() const { return destination_; }
  // Whether it only counts, without a destination or header action. The kernel lets such a flow share another's match.
  bool only_counts() const;
  // The steps without the destination.
  void append_steps(std::vector<steering::Action>& actions) const;

 private:
  int set_destination(steering::Destination destination);
  int claim_destination();

  Context& owner_;
  Uses uses_;
  bool claimed_ = false;  // has a destination of any kind
  bool drops_ = false;
  bool misses_ = false;
  bool wrong_object_ = false;  // an object that the kernel rejects
  std::size_t flow_actions_ = 0;
  bool repeated_ = false;                   // two flow actions of the same kind
  bool foreign_table_[2] = {false, false};  // has flow actions for receive, for transmit
  std::optional<Direction> table_;          // of the devx table that is its destination
  std::optional<steering::Destination> destination_;
  std::optional<std::uint32_t> tag_;
  std::shared_ptr<const steering::Reformat> decap_;     // type L2_TUNNEL_TO_L2, which has no firmware object
  std::shared_ptr<const steering::Reformat> reformat_;  // any other type
  std::shared_ptr<const steering::ModifyHeader> modify_;
  std::vector<std::shared_ptr<steering::Counter>> counters_;
};

}  // namespace verbs::mlx5::model

// Translates the specifications of ibv_create_flow() into match parameters and actions.

namespace verbs::mlx5::model {

// Reads num_of_specs specifications, each with its own size; like libibverbs it ignores the attributes' size. 0, EINVAL
// for a specification with a wrong size, or EOPNOTSUPP for one that the tables cannot match.
int read_specs(const ibv_flow_attr& attr, std::span<std::uint8_t, steering::kMatchSize> mask,
               std::span<std::uint8_t, steering::kMatchSize> value, FlowRequest& request, bool* drops);

}  // namespace verbs::mlx5::model
