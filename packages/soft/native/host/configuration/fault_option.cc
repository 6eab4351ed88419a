#include "host/configuration/fault_option.h"

#include <array>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "host/configuration/option.h"

namespace verbs::soft::host {

namespace {

using link::FaultRule;
using Apply = std::function<std::string(const std::string& key, const std::string& value, FaultRule* rule)>;

Apply probability(double FaultRule::* member) {
  return [member](const std::string& key, const std::string& value, FaultRule* rule) -> std::string {
    const auto number = parse_number<double>(value);
    if (!number || !(*number >= 0 && *number <= 1)) return reject(key, value, "a probability from 0 to 1");
    rule->*member = *number;
    return {};
  };
}

Apply microseconds(link::Nanos FaultRule::* member) {
  return [member](const std::string& key, const std::string& value, FaultRule* rule) {
    constexpr std::int64_t kMax = 10'000'000;  // ten seconds
    std::int64_t number = 0;
    std::string error = set_number<std::int64_t>(key, value, 0, kMax, &number);
    if (error.empty()) rule->*member = number * 1000;
    return error;
  };
}

Apply natural(std::uint64_t FaultRule::* member, std::uint64_t high) {
  return [=](const std::string& key, const std::string& value, FaultRule* rule) {
    return set_number<std::uint64_t>(key, value, 1, high, &(rule->*member));
  };
}

template <typename Value>
std::string set_word(const std::string& key, const std::string& value,
                     std::initializer_list<std::pair<const char*, Value>> words, const char* allowed, Value* target) {
  for (const auto& [word, meaning] : words) {
    if (value != word) continue;
    *target = meaning;
    return {};
  }
  return reject(key, value, allowed);
}

std::string set_direction(const std::string& key, const std::string& value, FaultRule* rule) {
  using link::FaultDirection;
  return set_word<FaultDirection>(
      key, value,
      {{"egress", FaultDirection::kEgress}, {"ingress", FaultDirection::kIngress}, {"both", FaultDirection::kBoth}},
      "egress, ingress or both", &rule->direction);
}

std::string set_opcodes(const std::string& key, const std::string& value, FaultRule* rule) {
  link::OpcodeSet set;
  for (const std::string& word : split(value, '|')) {
    const auto number = parse_natural(word);
    if (number && *number < set.size()) {
      set.set(*number);
    } else if (number || !link::add_opcodes(word, &set)) {
      return reject(key, value,
                    "names (\"rc_send_only\", or \"rc_read_response\" for all that begin with it) or numbers "
                    "from 0 to 255, with | between several");
    }
  }
  rule->opcodes = set;
  return {};
}

constexpr std::uint64_t kMax24 = 0xffffff;

std::string set_qpn(const std::string& key, const std::string& value, FaultRule* rule) {
  const auto number = parse_natural(value);
  if (!number || *number > kMax24) return reject(key, value, "a queue pair number from 0 to 0xffffff");
  rule->qpn = static_cast<std::uint32_t>(*number);
  return {};
}

std::string set_psn(const std::string& key, const std::string& value, FaultRule* rule) {
  const std::vector<std::string> ends = split(value, '-');
  const auto first = parse_natural(ends.front());
  const auto last = parse_natural(ends.back());
  if (ends.size() > 2 || !first || !last || *first > kMax24 || *last > kMax24) {
    return reject(key, value, "a packet sequence number from 0 to 0xffffff, or two with - between them");
  }
  rule->psn = link::PsnRange{static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*last)};
  return {};
}

std::string set_aeth(const std::string& key, const std::string& value, FaultRule* rule) {
  using link::AethKind;
  AethKind kind{};
  std::string error =
      set_word<AethKind>(key, value, {{"ack", AethKind::kAck}, {"rnr", AethKind::kRnrNak}, {"nak", AethKind::kNak}},
                         "ack, rnr or nak", &kind);
  if (error.empty()) rule->aeth = kind;
  return error;
}

struct Part {
  const char* key;
  Apply apply;
  bool simple = false;  // also an option of the plan, for all frames
  bool flag = false;    // the key alone means 1
};

const auto& parts() {
  constexpr std::uint64_t kMaxRate = 1'000'000'000'000;
  static const std::array kParts = {
      Part{"drop", probability(&FaultRule::drop), true, true},
      Part{"duplicate", probability(&FaultRule::duplicate), true, true},
      Part{"reorder", probability(&FaultRule::reorder), true, true},
      Part{"corrupt", probability(&FaultRule::corrupt), true, true},
      Part{"truncate", probability(&FaultRule::truncate), true, true},
      Part{"delay", microseconds(&FaultRule::delay), true},
      Part{"jitter", microseconds(&FaultRule::jitter), true},
      Part{"bytes_per_second", natural(&FaultRule::bytes_per_second, kMaxRate), true},
      Part{"packets_per_second", natural(&FaultRule::packets_per_second, kMaxRate), true},
      Part{"direction", set_direction, true},
      Part{"reorder_delay", microseconds(&FaultRule::reorder_delay)},
      Part{"opcode", set_opcodes},
      Part{"qpn", set_qpn},
      Part{"psn", set_psn},
      Part{"aeth", set_aeth},
      Part{"nth", natural(&FaultRule::nth, UINT64_MAX)},
      Part{"every", natural(&FaultRule::every, UINT64_MAX)},
      Part{"count", natural(&FaultRule::count, UINT64_MAX)},
      Part{"probability", probability(&FaultRule::probability)},
  };
  return kParts;
}

std::string keys(bool simple) {
  std::string text;
  for (const Part& part : parts()) {
    if (simple && !part.simple) continue;
    text += std::string(text.empty() ? "" : ", ") + part.key;
  }
  return text;
}

std::string apply_part(const std::string& text, FaultRule* rule) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string key = text.substr(0, equals);
  for (const Part& part : parts()) {
    if (key != part.key) continue;
    if (equals < text.size()) return part.apply(key, text.substr(equals + 1), rule);
    return part.flag ? part.apply(key, "1", rule) : key + " needs a value";
  }
  return "\"" + key + "\" is unknown; there are " + keys(false);
}

std::string add_rule(const std::string& value, link::FaultPlan* plan) {
  FaultRule rule;
  rule.text = value;
  for (const std::string& part : split(value, ':')) {
    if (const std::string error = apply_part(part, &rule); !error.empty()) {
      return "fault=" + value + " is not valid: " + error;
    }
  }
  if (!rule.acts()) {
    return "fault=" + value + " is not valid: it says which frames, but not what happens to them (drop, duplicate, " +
           "reorder, corrupt, truncate, delay, jitter, bytes_per_second, packets_per_second)";
  }
  plan->rules.push_back(std::move(rule));
  return {};
}

}  // namespace

std::optional<std::string> apply_fault_option(const std::string& key, const std::string& value, link::FaultPlan* plan) {
  if (key == "fault") return add_rule(value, plan);
  if (key == "seed") return set_number<std::uint64_t>(key, value, 0, UINT64_MAX, &plan->seed);
  for (const Part& part : parts()) {
    if (!part.simple || key != part.key) continue;
    std::string error = part.apply(key, value, plan);
    if (error.empty()) plan->text += (plan->text.empty() ? "" : ":") + key + "=" + value;
    return error;
  }
  return std::nullopt;
}

std::string fault_option_keys() { return keys(true) + ", fault, seed"; }

}  // namespace verbs::soft::host
