#include "link/faults/fault_plan.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "wire/bytes.h"
#include "wire/headers.h"
#include "wire/opcode.h"

namespace verbs::soft::link {
namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
// The ICRC does not cover byte 4 of the BTH: corruption there would go unnoticed.
constexpr std::size_t kUncovered = 4;

bool happens(std::uint64_t draw, double probability) { return static_cast<double>(draw >> 11) * 0x1p-53 < probability; }

Nanos time_of(std::uint64_t amount, std::uint64_t per_second) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  return per_second == 0 ? 0 : static_cast<Nanos>(amount * kSecond / per_second);
}

}  // namespace

// Streams of one seed start far apart in the generator's cycle.
FaultDecider::FaultDecider(const FaultRule& rule, std::uint64_t seed, std::size_t place, FaultDirection direction)
    : rule_(rule),
      place_(place),
      state_(seed ^ (2 * place + (direction == FaultDirection::kEgress ? 0 : 1)) * 0xd1b54a32d192ed03) {}

// SplitMix64: one addition and a mixing function, a full cycle of 2^64.
std::uint64_t FaultDecider::draw() {
  std::uint64_t z = state_ += kGolden;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

bool FaultDecider::is_selected(std::uint64_t index) const {
  const std::uint64_t every = std::max<std::uint64_t>(rule_.every, 1);
  const std::uint64_t first = rule_.nth != 0 ? rule_.nth : every;
  const std::uint64_t default_limit = rule_.nth != 0 && rule_.every == 0 ? 1 : UINT64_MAX;
  const std::uint64_t limit = rule_.count != 0 ? rule_.count : default_limit;
  return index >= first && (index - first) % every == 0 && counters_.hits < limit;
}

FaultDecision FaultDecider::decide(std::span<const std::uint8_t> frame, const FrameFields& fields) {
  FaultDecision decision;
  decision.size = frame.size();
  if (!matches(rule_, fields)) return decision;
  const std::uint64_t drop = draw(), duplicate = draw(), reorder = draw(), corrupt = draw(), place = draw(),
                      truncate = draw(), rest = draw(), jitter = draw(), chance = draw();
  if (!is_selected(++counters_.matched) || !happens(chance, rule_.probability)) return decision;
  decision.drop = happens(drop, rule_.drop);
  decision.duplicate = happens(duplicate, rule_.duplicate);
  decision.reorder = happens(reorder, rule_.reorder);
  decision.hold = rule_.delay + (decision.reorder ? rule_.reorder_delay : 0);
  if (rule_.jitter > 0) decision.hold += static_cast<Nanos>(jitter % static_cast<std::uint64_t>(rule_.jitter));

  const std::size_t transport = fields.network == 0 ? 0 : frame.size() - fields.network;
  if (transport > kUncovered + 1) {
    if (happens(corrupt, rule_.corrupt)) {
      std::size_t byte = (place >> 3) % (transport - 1);
      if (byte >= kUncovered) ++byte;
      decision.corrupt_byte = fields.network + byte;
      decision.corrupt_mask = static_cast<std::uint8_t>(1u << (place & 7));
    }
    if (happens(truncate, rule_.truncate)) {
      decision.truncate = true;
      decision.size = fields.network + rest % transport;
    }
  }
  decision.hit = decision.drop || decision.duplicate || decision.reorder || rule_.delay > 0 || rule_.jitter > 0 ||
                 decision.corrupt_byte != 0 || decision.truncate || rule_.limits_rate();
  counters_.hits += decision.hit;
  return decision;
}

Nanos FaultDecider::wait_for_rate(std::size_t size, Nanos ready) {
  const Nanos busy = std::max(time_of(size, rule_.bytes_per_second), time_of(1, rule_.packets_per_second));
  free_at_ = std::max(free_at_, ready) + busy;
  return free_at_ - ready;
}

namespace {

// "rc_send_only_"
std::string words_of(std::string_view name) {
  std::string words;
  for (const char c : name) {
    const bool separator = c == ' ' || c == '-' || c == '_';
    words += separator ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  words += '_';
  const std::size_t rdma = words.find("_rdma_");
  return rdma == std::string::npos ? words : words.erase(rdma, 5);
}

}  // namespace

bool add_opcodes(std::string_view name, OpcodeSet* set) {
  if (name.empty()) return false;
  const std::string wanted = words_of(name);
  OpcodeSet family;
  for (unsigned opcode = 0; opcode < family.size(); ++opcode) {
    const wire::OpcodeInfo* info = wire::opcode_info(static_cast<std::uint8_t>(opcode));
    if (info == nullptr) continue;
    const std::string words = words_of(info->name);
    if (words == wanted) {
      set->set(opcode);
      return true;
    }
    if (words.starts_with(wanted)) family.set(opcode);
  }
  *set |= family;
  return family.any();
}

FrameFields parse_fields(std::span<const std::uint8_t> frame) {
  constexpr std::size_t kPortFromEnd = 6;  // where a UDP header has its destination port
  const std::size_t network = wire::network_size_of(frame);
  if (network == 0 || frame.size() < network + wire::Bth::kSize ||
      wire::load_be<std::uint16_t>(&frame[network - kPortFromEnd]) != wire::kRocePort) {
    return {};
  }
  const std::span<const std::uint8_t> transport = frame.subspan(network);
  const wire::Bth bth = wire::Bth::parse(transport.data());
  FrameFields fields{.network = network, .opcode = bth.opcode, .qpn = bth.dest_qpn, .psn = bth.psn, .aeth = {}};
  const wire::OpcodeInfo* info = wire::opcode_info(bth.opcode);
  if (info != nullptr && info->has(wire::kHasAeth) && transport.size() > info->aeth) {
    fields.aeth = static_cast<AethKind>(transport[info->aeth] >> 5 & 3);
  }
  return fields;
}

bool matches(const FaultRule& rule, const FrameFields& fields) {
  const bool asks = rule.opcodes || rule.qpn || rule.psn || rule.aeth;
  if (!asks) return true;
  return fields.network != 0 && (!rule.opcodes || rule.opcodes->test(fields.opcode)) &&
         (!rule.qpn || *rule.qpn == fields.qpn) && (!rule.psn || rule.psn->has(fields.psn)) &&
         (!rule.aeth || (fields.aeth && *rule.aeth == *fields.aeth));
}

}  // namespace verbs::soft::link
