// Fault plans: a text becomes a plan or an explanation, and a plan changes frames only as documented.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "fuzz/check.h"
#include "fuzz/input.h"
#include "host/configuration/configuration.h"
#include "link/faults/fault_link.h"

using namespace verbs::soft;
using namespace verbs::soft::fuzz;

namespace {

// The innermost link: returns the frames that it was given, and counts the frames that are sent.
class Line final : public link::Link {
 public:
  std::vector<std::uint8_t> incoming;
  std::size_t sent = 0;

  std::uint8_t* reserve() override { return buffer_; }
  void commit(std::size_t size) override {
    FUZZ_CHECK(size <= sizeof buffer_);
    ++sent;
  }
  void flush() override {}
  std::size_t receive(link::Receiver& receiver, std::size_t budget) override {
    if (budget == 0 || incoming.empty()) return 0;
    const std::vector<std::uint8_t> frame = std::move(incoming);
    incoming.clear();
    receiver.deliver(frame);
    return 1;
  }

 private:
  std::uint8_t buffer_[wire::kMaxFrame] = {};
};

class Counter final : public link::Receiver {
 public:
  std::size_t received = 0;
  void deliver(std::span<const std::uint8_t> frame) override {
    FUZZ_CHECK(frame.size() <= wire::kMaxFrame);
    ++received;
  }
};

// How often a frame can leave: the effects of all rules apply, each may duplicate it.
std::size_t most_copies(const link::FaultPlan& plan) {
  const auto duplicates = [](const link::FaultRule& rule) { return rule.duplicate > 0; };
  const auto further = std::count_if(plan.rules.begin(), plan.rules.end(), duplicates);
  return 1 + (duplicates(plan) ? 1 : 0) + static_cast<std::size_t>(further);
}

void run(const link::FaultPlan& plan, Input& input) {
  const std::size_t copies = most_copies(plan);
  Line line;
  Counter counter;
  link::FaultLink faults(line);
  faults.set_plan(plan);
  link::Nanos now = 0;
  std::size_t in = 0, out = 0;
  for (int i = 0; i < 32 && !input.empty(); ++i) {
    now += input.take<std::uint16_t>() * std::int64_t{1000};
    faults.advance(now);
    const auto frame = input.bytes(input.byte());
    if (input.one_in(2)) {
      if (!frame.empty()) std::memcpy(faults.reserve(), frame.data(), frame.size());
      if (frame.empty()) faults.reserve();
      faults.commit(frame.size());
      ++out;
    } else {
      line.incoming.assign(frame.begin(), frame.end());
      if (!frame.empty()) ++in;
      faults.receive(counter, 4);
    }
  }
  // After the longest delay everything that was not lost has arrived, once and once more for each rule that duplicates.
  faults.advance(now + 1'000'000'000'000'000);  // which is eleven days: frames may leave at a byte a second
  while (faults.receive(counter, 64) > 0) {
  }
  FUZZ_CHECK(line.sent <= copies * out && counter.received <= copies * in);
  FUZZ_CHECK(faults.next_deadline() == INT64_MAX);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const std::size_t length = input.byte();
  const auto bytes = input.bytes(length);
  link::FaultPlan plan;
  const std::string error = host::read_faults({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, &plan);
  if (error.empty()) {
    plan.capacity = 8;  // small, so that it overflows soon
    run(plan, input);
  } else {
    FUZZ_CHECK(error.size() > 10);
  }
  return 0;
}
