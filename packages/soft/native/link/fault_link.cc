#include "fault_link.h"

#include <algorithm>
#include <cstring>

#include "fault_dice.h"
#include "hold_queue.h"

namespace verbs::soft::link {

// One way through the link. `release` is called with each frame that goes on at once; the others wait in `held`.
struct FaultLink::Direction {
  Direction(const FaultPlan& plan, std::uint64_t stream) : dice(plan, stream), held(plan.holds() ? plan.capacity : 0) {}

  template <typename Release>
  void pass(std::span<const std::uint8_t> frame, Nanos now, Release release) {
    const FaultVerdict verdict = dice.roll(frame);
    if (verdict.drop || frame.size() > sizeof scratch) {
      ++counters.dropped;
      return;
    }
    ++counters.passed;
    counters.reordered += verdict.reorder;
    counters.truncated += verdict.truncate;
    // A copy, because the original may be the receiver's to read only, or be gone after the first release.
    std::memcpy(scratch, frame.data(), frame.size());
    if (verdict.corrupt_byte != 0) {
      scratch[verdict.corrupt_byte] ^= verdict.corrupt_mask;
      ++counters.corrupted;
    }
    const std::span<const std::uint8_t> result{scratch, verdict.size};
    counters.duplicated += verdict.duplicate;
    for (int copies = verdict.duplicate ? 2 : 1; copies > 0; --copies) {
      if (verdict.hold == 0) {
        release(result);
      } else if (held.push(result, now + verdict.hold)) {
        ++counters.delayed;
      } else {
        ++counters.overflow;
      }
    }
  }

  FaultDice dice;
  HoldQueue held;
  FaultCounters counters;
  std::uint8_t scratch[wire::kMaxFrame];
};

// Stands between the next link and the real receiver.
class FaultLink::Intake final : public Receiver {
 public:
  Intake(Direction& direction, Receiver& receiver, Nanos now) : direction_(direction), receiver_(receiver), now_(now) {}
  void deliver(std::span<const std::uint8_t> frame) override {
    direction_.pass(frame, now_, [this](std::span<const std::uint8_t> result) { receiver_.deliver(result); });
  }

 private:
  Direction& direction_;
  Receiver& receiver_;
  Nanos now_;
};

FaultLink::FaultLink(Link& next) : next_(next) {}
FaultLink::~FaultLink() = default;

void FaultLink::set_plan(const std::optional<FaultPlan>& plan) {
  plan_ = plan;
  egress_.reset();
  ingress_.reset();
  if (!plan_) return;
  if (plan_->direction != FaultDirection::kIngress) egress_ = std::make_unique<Direction>(*plan_, 0);
  if (plan_->direction != FaultDirection::kEgress) ingress_ = std::make_unique<Direction>(*plan_, 1);
}

FaultCounters FaultLink::egress_counters() const { return egress_ ? egress_->counters : FaultCounters{}; }
FaultCounters FaultLink::ingress_counters() const { return ingress_ ? ingress_->counters : FaultCounters{}; }

void FaultLink::emit(std::span<const std::uint8_t> frame) {
  std::memcpy(next_.reserve(), frame.data(), frame.size());
  next_.commit(frame.size());
}

void FaultLink::commit(std::size_t size) {
  if (!egress_) return next_.commit(size);
  egress_->pass({reserved_, size}, now_, [this](std::span<const std::uint8_t> frame) { emit(frame); });
}

std::size_t FaultLink::receive(Receiver& receiver, std::size_t budget) {
  if (!ingress_) return next_.receive(receiver, budget);
  std::size_t taken = 0;
  for (HoldQueue& held = ingress_->held; taken < budget && held.next_due() <= now_; ++taken) {
    receiver.deliver(held.front());
    held.pop();
  }
  Intake intake(*ingress_, receiver, now_);
  return taken + next_.receive(intake, budget - taken);
}

void FaultLink::advance(Nanos now) {
  now_ = now;
  next_.advance(now);
  if (!egress_ || egress_->held.next_due() > now) return;
  for (HoldQueue& held = egress_->held; held.next_due() <= now; held.pop()) emit(held.front());
  next_.flush();
}

Nanos FaultLink::next_deadline() const {
  Nanos deadline = next_.next_deadline();
  if (egress_) deadline = std::min(deadline, egress_->held.next_due());
  if (ingress_) deadline = std::min(deadline, ingress_->held.next_due());
  return deadline;
}

}  // namespace verbs::soft::link
