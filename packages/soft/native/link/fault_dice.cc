#include "fault_dice.h"

#include "../wire/headers.h"

namespace verbs::soft::link {
namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
// BTH byte 4 is not in the ICRC: a bit inverted there would go unnoticed, which is no fault worth having.
constexpr std::size_t kUncovered = 4;

bool happens(std::uint64_t draw, double probability) { return static_cast<double>(draw >> 11) * 0x1p-53 < probability; }

}  // namespace

// Streams of one seed start far apart in the generator's cycle.
FaultDice::FaultDice(const FaultPlan& plan, std::uint64_t stream)
    : plan_(plan), state_(plan.seed ^ stream * 0xd1b54a32d192ed03) {}

// SplitMix64: one addition and a mixing function, a full cycle of 2^64.
std::uint64_t FaultDice::draw() {
  std::uint64_t z = state_ += kGolden;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

FaultVerdict FaultDice::roll(std::span<const std::uint8_t> frame) {
  const std::uint64_t drop = draw(), duplicate = draw(), reorder = draw(), corrupt = draw(), place = draw(),
                      truncate = draw(), rest = draw(), jitter = draw();
  FaultVerdict verdict;
  verdict.size = frame.size();
  verdict.drop = happens(drop, plan_.drop);
  verdict.duplicate = happens(duplicate, plan_.duplicate);
  verdict.reorder = happens(reorder, plan_.reorder);
  verdict.hold = plan_.delay + (verdict.reorder ? plan_.reorder_delay : 0);
  if (plan_.jitter > 0) verdict.hold += static_cast<Nanos>(jitter % static_cast<std::uint64_t>(plan_.jitter));

  const std::size_t network = wire::network_size_of(frame);
  if (network == 0 || frame.size() <= network + kUncovered + 1) return verdict;
  const std::size_t transport = frame.size() - network;
  if (happens(corrupt, plan_.corrupt)) {
    std::size_t byte = (place >> 3) % (transport - 1);
    if (byte >= kUncovered) ++byte;
    verdict.corrupt_byte = network + byte;
    verdict.corrupt_mask = static_cast<std::uint8_t>(1u << (place & 7));
  }
  if (happens(truncate, plan_.truncate)) {
    verdict.truncate = true;
    verdict.size = network + rest % transport;
  }
  return verdict;
}

}  // namespace verbs::soft::link
