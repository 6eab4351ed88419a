#include "link/faults/fault_link.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "link/faults/fault_plan.h"
#include "link/link.h"

namespace verbs::soft::link {
namespace {

// Copies of frames that wait until they are due. All memory is allocated at construction.

class DelayQueue {
 public:
  explicit DelayQueue(std::size_t capacity);

  // False if the queue is full.
  bool push(std::span<const std::uint8_t> frame, Nanos due);
  bool full() const { return free_.empty(); }
  bool empty() const { return heap_.empty(); }
  // When the first frame is due; INT64_MAX if there is none.
  Nanos next_due() const;
  // The frame that is due first; of frames that are due at the same time, the one that was pushed first. Valid until
  // pop() or push().
  std::span<const std::uint8_t> front() const;
  void pop();

 private:
  struct Entry {
    Nanos due;
    std::uint64_t sequence;
    std::uint32_t slot;
    std::uint32_t size;
  };
  static bool later(const Entry& a, const Entry& b);
  const std::uint8_t* slot(std::uint32_t index) const { return frames_.data() + index * wire::kMaxFrame; }

  std::uint64_t sequence_ = 0;
  std::vector<Entry> heap_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint8_t> frames_;
};

DelayQueue::DelayQueue(std::size_t capacity) : frames_(capacity * wire::kMaxFrame) {
  heap_.reserve(capacity);
  free_.reserve(capacity);
  for (std::size_t i = capacity; i > 0; --i) free_.push_back(static_cast<std::uint32_t>(i - 1));
}

bool DelayQueue::later(const Entry& a, const Entry& b) {
  return a.due != b.due ? a.due > b.due : a.sequence > b.sequence;
}

bool DelayQueue::push(std::span<const std::uint8_t> frame, Nanos due) {
  if (free_.empty() || frame.size() > wire::kMaxFrame) return false;
  const std::uint32_t index = free_.back();
  free_.pop_back();
  std::memcpy(frames_.data() + index * wire::kMaxFrame, frame.data(), frame.size());
  heap_.push_back({due, sequence_++, index, static_cast<std::uint32_t>(frame.size())});
  std::push_heap(heap_.begin(), heap_.end(), later);
  return true;
}

Nanos DelayQueue::next_due() const { return heap_.empty() ? INT64_MAX : heap_.front().due; }

std::span<const std::uint8_t> DelayQueue::front() const {
  const Entry& first = heap_.front();
  return {slot(first.slot), first.size};
}

void DelayQueue::pop() {
  std::pop_heap(heap_.begin(), heap_.end(), later);
  free_.push_back(heap_.back().slot);
  heap_.pop_back();
}

}  // namespace

// One direction of the link. `release` is called with each frame that passes at once; delayed frames are in `held`.
struct FaultLink::Direction {
  Direction(std::vector<FaultDecider> rules, std::size_t capacity) : deciders(std::move(rules)), held(capacity) {}

  template <typename Release>
  void pass(std::span<const std::uint8_t> frame, Nanos now, Release release) {
    if (frame.size() > sizeof scratch) {
      ++counters.dropped;
      return;
    }
    // A copy: the original may be read-only, and may be invalid after the first release.
    std::memcpy(scratch, frame.data(), frame.size());
    const Fate fate = decide(frame);
    if (fate.drop) {
      ++counters.dropped;
      return;
    }
    ++counters.passed;
    counters.duplicated += fate.duplicates;
    counters.reordered += fate.reorder;
    counters.corrupted += fate.corrupt;
    counters.truncated += fate.size < frame.size();
    const std::span<const std::uint8_t> result{scratch, fate.size};
    for (std::uint64_t copies = 1 + fate.duplicates; copies > 0; --copies) {
      // A frame that finds the queue full takes no time on a limited link.
      const bool limited = fate.limit != nullptr && !held.full();
      const Nanos hold = fate.hold + (limited ? fate.limit->wait_for_rate(fate.size, now + fate.hold) : 0);
      if (hold == 0 && fate.limit == nullptr) {
        release(result);
      } else if (held.push(result, now + hold)) {
        ++counters.delayed;
      } else {
        ++counters.overflow;
      }
    }
  }

  std::vector<FaultDecider> deciders;
  DelayQueue held;
  FaultCounters counters;
  std::uint8_t scratch[wire::kMaxFrame];

 private:
  // The decisions of all rules together.
  struct Fate {
    bool drop = false;
    std::uint64_t duplicates = 0;
    bool reorder = false;
    bool corrupt = false;
    Nanos hold = 0;
    std::size_t size = 0;
    FaultDecider* limit = nullptr;  // the last rule that limits its rate
  };

  Fate decide(std::span<const std::uint8_t> frame) {
    const FrameFields fields = parse_fields(frame);
    Fate fate{.size = frame.size()};
    for (FaultDecider& decider : deciders) {
      const FaultDecision decision = decider.decide(frame, fields);
      if (!decision.hit) continue;
      fate.drop |= decision.drop;
      fate.duplicates += decision.duplicate;
      fate.reorder |= decision.reorder;
      fate.hold += decision.hold;
      fate.size = std::min(fate.size, decision.size);
      if (decision.corrupt_byte != 0) {
        scratch[decision.corrupt_byte] ^= decision.corrupt_mask;
        fate.corrupt = true;
      }
      if (decider.rule().limits_rate()) fate.limit = &decider;
    }
    return fate;
  }
};

// Stands between the next link and the real receiver.
class FaultLink::Intake final : public Receiver {
 public:
  Intake(Direction& direction, Receiver& receiver, Nanos now) : direction_(direction), receiver_(receiver), now_(now) {}
  void deliver(std::span<const std::uint8_t> frame) override {
    direction_.pass(frame, now_, [this](std::span<const std::uint8_t> result) { receiver_.deliver(result); });
  }
  void deliver_referring(std::span<const std::uint8_t> frame, SenderMemory& /*memory*/) override {
    receiver_.deliver_referring(frame, unreadable_memory());
  }
  void refuse(const wire::Path& path) override { receiver_.refuse(path); }

 private:
  Direction& direction_;
  Receiver& receiver_;
  Nanos now_;
};

FaultLink::FaultLink(Link& next) : next_(&next) {}
FaultLink::~FaultLink() = default;

void FaultLink::set_plan(const std::optional<FaultPlan>& plan) {
  plan_ = plan;
  egress_.reset();
  ingress_.reset();
  if (!plan_) return;
  egress_ = direction(FaultDirection::kEgress);
  ingress_ = direction(FaultDirection::kIngress);
}

// nullptr if no rule is for that direction.
std::unique_ptr<FaultLink::Direction> FaultLink::direction(FaultDirection which) const {
  std::vector<FaultDecider> deciders;
  std::size_t place = 0;
  bool holds = false;
  const auto add = [&](const FaultRule& rule) {
    if (rule.direction == which || rule.direction == FaultDirection::kBoth) {
      deciders.emplace_back(rule, plan_->seed, place, which);
      holds = holds || rule.holds();
    }
    ++place;
  };
  add(*plan_);
  for (const FaultRule& rule : plan_->rules) add(rule);
  if (deciders.empty()) return nullptr;
  return std::make_unique<Direction>(std::move(deciders), holds ? plan_->capacity : 0);
}

FaultCounters FaultLink::egress_counters() const { return egress_ ? egress_->counters : FaultCounters{}; }
FaultCounters FaultLink::ingress_counters() const { return ingress_ ? ingress_->counters : FaultCounters{}; }

std::vector<RuleCounters> FaultLink::rule_counters() const {
  std::vector<RuleCounters> sums(plan_ ? 1 + plan_->rules.size() : 0);
  for (const auto* way : {egress_.get(), ingress_.get()}) {
    if (way == nullptr) continue;
    for (const FaultDecider& decider : way->deciders) {
      sums[decider.place()].matched += decider.counters().matched;
      sums[decider.place()].hits += decider.counters().hits;
    }
  }
  return sums;
}

void FaultLink::emit(std::span<const std::uint8_t> frame) {
  std::memcpy(next_->reserve(), frame.data(), frame.size());
  next_->commit(frame.size());
}

void FaultLink::commit(std::size_t size) {
  if (!egress_) return next_->commit(size);
  egress_->pass({reserved_, size}, now_, [this](std::span<const std::uint8_t> frame) { emit(frame); });
}

std::size_t FaultLink::receive(Receiver& receiver, std::size_t budget) {
  if (!ingress_) return next_->receive(receiver, budget);
  std::size_t taken = 0;
  for (DelayQueue& held = ingress_->held; taken < budget && held.next_due() <= now_; ++taken) {
    receiver.deliver(held.front());
    held.pop();
  }
  Intake intake(*ingress_, receiver, now_);
  return taken + next_->receive(intake, budget - taken);
}

void FaultLink::advance(Nanos now) {
  now_ = now;
  next_->advance(now);
  if (!egress_ || egress_->held.next_due() > now) return;
  for (DelayQueue& held = egress_->held; held.next_due() <= now; held.pop()) emit(held.front());
  next_->flush();
}

Nanos FaultLink::next_deadline() const {
  Nanos deadline = next_->next_deadline();
  if (egress_) deadline = std::min(deadline, egress_->held.next_due());
  if (ingress_) deadline = std::min(deadline, ingress_->held.next_due());
  return deadline;
}

}  // namespace verbs::soft::link
