#include "model/nic/faults.h"

#include <cerrno>
#include <charconv>
#include <utility>

#include "model/base/text.h"

namespace verbs::doca_comm::model {

namespace {

constexpr std::pair<const char*, Fault> kKinds[] = {
    {"allocate", Fault::kAllocate},
    {"descriptor", Fault::kDescriptor},
    {"open_device", Fault::kOpenDevice},
    {"query_device", Fault::kQueryDevice},
    {"register_memory", Fault::kRegisterMemory},
    {"create_queue", Fault::kCreateQueue},
    {"modify_queue", Fault::kModifyQueue},
    {"destroy_queue", Fault::kDestroyQueue},
    {"post_send", Fault::kPostSend},
    {"post_receive", Fault::kPostReceive},
    {"poll", Fault::kPoll},
    {"registry", Fault::kRegistry},
};

constexpr std::pair<const char*, int> kErrors[] = {
    {"ENOMEM", ENOMEM}, {"EIO", EIO}, {"EINVAL", EINVAL}, {"EAGAIN", EAGAIN}, {"EMFILE", EMFILE}, {"EACCES", EACCES},
};

template <typename Value, std::size_t kSize>
const Value* look_up(const std::pair<const char*, Value> (&table)[kSize], const std::string& name) {
  for (const auto& entry : table) {
    if (name == entry.first) return &entry.second;
  }
  return nullptr;
}

}  // namespace

Faults& Faults::get() {
  static auto* faults = new Faults;  // outlives every thread
  return *faults;
}

int Faults::parse(const std::string& text, Rule* rule) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return EINVAL;
  const Fault* kind = look_up(kKinds, parts[0]);
  if (!kind) return EINVAL;
  *rule = {*kind, 0, EIO};
  if (!parse_number(parts[1], &rule->left) || rule->left == 0) return EINVAL;
  if (parts.size() == 2) return 0;
  const int* code = look_up(kErrors, parts[2]);
  if (!code) return EINVAL;
  rule->error = *code;
  return 0;
}

int Faults::set(const char* plan) {
  std::vector<Rule> rules;
  if (plan && *plan) {
    for (const std::string& text : split(plan, '+')) {
      Rule rule;
      if (const int error = parse(text, &rule)) return error;
      rules.push_back(rule);
    }
  }
  const std::lock_guard guard(mutex_);
  rules_ = std::move(rules);
  active_ = !rules_.empty();
  return 0;
}

int Faults::count(Fault kind) {
  const std::lock_guard guard(mutex_);
  for (Rule& rule : rules_) {
    if (rule.kind == kind && rule.left != 0 && --rule.left == 0) return rule.error;
  }
  return 0;
}

}  // namespace verbs::doca_comm::model
