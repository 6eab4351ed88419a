// A link that drops, duplicates, delays, reorders, corrupts and slows the frames of the link behind it, by a fault
// plan. Its time is the argument of advance(), so that a test replays a plan exactly.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "link/faults/fault_plan.h"
#include "link/link.h"

namespace verbs::soft::link {

class FaultLink final : public Link {
 public:
  // `next` must outlive this link. Without a plan frames pass untouched.
  explicit FaultLink(Link& next);
  ~FaultLink() override;

  // Replaces the link behind this one; the plan continues.
  void redirect(Link& next) { next_ = &next; }
  // Starts a plan from its seed, with counters at zero; std::nullopt ends the plan. Delayed frames are dropped.
  void set_plan(const std::optional<FaultPlan>& plan);
  const std::optional<FaultPlan>& plan() const { return plan_; }
  FaultCounters egress_counters() const;
  FaultCounters ingress_counters() const;
  // The counters of the plan's own rule and of each further rule, for both directions together; empty without a plan.
  std::vector<RuleCounters> rule_counters() const;

  std::uint8_t* reserve() override { return reserved_ = next_->reserve(); }
  void commit(std::size_t size) override;
  // Frames that are to suffer a plan must have their payload.
  bool takes_references(const wire::Gid& source, const wire::Gid& destination, std::uint32_t qp_num) override {
    return !plan_ && next_->takes_references(source, destination, qp_num);
  }
  int route(const wire::Gid& source, const wire::Gid& destination, std::uint32_t* mtu) override {
    return next_->route(source, destination, mtu);
  }
  void commit_referring(std::span<std::uint8_t> frame) override { next_->commit_referring(frame); }
  void revoke_references() override { next_->revoke_references(); }
  void flush() override { next_->flush(); }
  bool congested(const wire::Gid& destination, std::uint32_t qp_num) override {
    return next_->congested(destination, qp_num);
  }
  std::uint64_t relieve() override { return next_->relieve(); }
  std::uint16_t fixed_source_port() const override { return next_->fixed_source_port(); }
  std::size_t receive(Receiver& receiver, std::size_t budget) override;
  void advance(Nanos now) override;
  Nanos next_deadline() const override;
  int wait_fd() const override { return next_->wait_fd(); }

 private:
  struct Direction;
  class Intake;

  std::unique_ptr<Direction> direction(FaultDirection which) const;
  void emit(std::span<const std::uint8_t> frame);

  Link* next_;
  std::optional<FaultPlan> plan_;
  std::unique_ptr<Direction> egress_, ingress_;  // null where the plan changes nothing
  std::uint8_t* reserved_ = nullptr;
  Nanos now_ = 0;
};

}  // namespace verbs::soft::link
