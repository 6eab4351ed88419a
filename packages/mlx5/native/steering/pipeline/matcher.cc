#include "steering/pipeline/matcher.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "steering/packet/packet.h"

namespace verbs::mlx5::steering {
namespace {

constexpr std::size_t kWordSize = sizeof(std::uint64_t);
constexpr std::size_t kWords = kMatchSize / kWordSize;

// Mostly one to three words: faster than a call of memcmp.
bool is_same(const std::vector<std::uint64_t>& words, const std::uint64_t* others) {
  std::uint64_t difference = 0;
  for (std::size_t i = 0; i < words.size(); ++i) difference |= words[i] ^ others[i];
  return difference == 0;
}

}  // namespace

Matcher::Matcher(std::uint32_t priority, std::span<const std::uint8_t> mask) : priority_(priority), slots_(8) {
  std::copy_n(mask.begin(), std::min<std::size_t>(mask.size(), kMatchSize), mask_);
  for (std::uint32_t offset = 0; offset < kMatchSize; offset += kWordSize) {
    std::uint64_t bits;
    std::memcpy(&bits, mask_ + offset, sizeof bits);
    if (bits == 0) continue;
    words_.push_back({offset, bits});
    sections_ = static_cast<SectionMask>(sections_ | 1u << offset / kMatchSectionSize);
  }
  if ((mask_[header::kIhlChecks] & header::kChecksumBits) != 0) sections_ |= kOuterChecksums;
  if ((mask_[kInnerSection + header::kIhlChecks] & header::kChecksumBits) != 0) sections_ |= kInnerChecksums;
}

Matcher::~Matcher() {
  for (Rule* rule : slots_) {
    while (rule != nullptr) delete std::exchange(rule, rule->shadowed_);
  }
}

bool Matcher::has_mask(std::span<const std::uint8_t> mask) const {
  const std::size_t size = std::min<std::size_t>(mask.size(), kMatchSize);
  return std::equal(mask.begin(), mask.begin() + static_cast<std::ptrdiff_t>(size), mask_) &&
         std::all_of(mask_ + size, mask_ + kMatchSize, [](std::uint8_t byte) { return byte == 0; });
}

bool Matcher::is_outside_mask(std::span<const std::uint8_t> value) const {
  for (std::size_t i = 0; i < value.size(); ++i) {
    if ((value[i] & ~(i < kMatchSize ? mask_[i] : 0)) != 0) return true;
  }
  return false;
}

std::vector<std::uint64_t> Matcher::masked(std::span<const std::uint8_t> value) const {
  std::uint8_t bytes[kMatchSize] = {};
  std::copy_n(value.begin(), std::min<std::size_t>(value.size(), kMatchSize), bytes);
  std::vector<std::uint64_t> words;
  words.reserve(words_.size());
  for (const Word& word : words_) {
    std::uint64_t bits;
    std::memcpy(&bits, bytes + word.offset, sizeof bits);
    words.push_back(bits & word.mask);
  }
  return words;
}

std::uint32_t Matcher::hash_of(const std::uint64_t* words, std::size_t count) {
  std::uint64_t hash = 0x9e3779b97f4a7c15;
  for (std::size_t i = 0; i < count; ++i) {
    hash = (hash ^ words[i]) * 0xbf58476d1ce4e5b9;
    hash ^= hash >> 32;
  }
  return static_cast<std::uint32_t>(hash);
}

std::size_t Matcher::slot_of(const std::uint64_t* words, std::uint32_t hash) const {
  const std::size_t last = slots_.size() - 1;
  for (std::size_t slot = hash & last;; slot = (slot + 1) & last) {
    const Rule* rule = slots_[slot];
    if (rule == nullptr) return slot;
    if (rule->hash_ == hash && is_same(rule->words_, words)) return slot;
  }
}

Rule* Matcher::find(std::span<const std::uint8_t> value) const {
  const auto words = masked(value);
  return slots_[slot_of(words.data(), hash_of(words.data(), words.size()))];
}

Rule& Matcher::add(std::span<const std::uint8_t> value, ActionList actions) {
  auto rule = std::make_unique<Rule>();
  rule->matcher_ = this;
  rule->words_ = masked(value);
  rule->hash_ = hash_of(rule->words_.data(), rule->words_.size());
  rule->actions_ = std::move(actions);
  if ((used_ + 1) * 2 > slots_.size()) grow();
  Rule** place = &slots_[slot_of(rule->words_.data(), rule->hash_)];
  if (*place == nullptr) ++used_;
  while (*place != nullptr) place = &(*place)->shadowed_;
  *place = rule.get();
  ++count_;
  return *rule.release();
}

void Matcher::remove(Rule& rule) {
  const std::size_t slot = slot_of(rule.words_.data(), rule.hash_);
  Rule** place = &slots_[slot];
  while (*place != nullptr && *place != &rule) place = &(*place)->shadowed_;
  if (*place == nullptr) return;  // a rule of another matcher
  *place = rule.shadowed_;
  delete &rule;
  --count_;
  if (slots_[slot] == nullptr) {
    --used_;
    close_gap(slot);
  }
}

void Matcher::grow() {
  std::vector<Rule*> before(slots_.size() * 2);
  before.swap(slots_);
  for (Rule* rule : before) {
    if (rule != nullptr) slots_[slot_of(rule->words_.data(), rule->hash_)] = rule;
  }
}

// Moves back rules that had probed past the slot that is free now, so that a look-up may end at a free slot.
void Matcher::close_gap(std::size_t slot) {
  const std::size_t last = slots_.size() - 1;
  for (std::size_t next = (slot + 1) & last; slots_[next] != nullptr; next = (next + 1) & last) {
    const std::size_t home = slots_[next]->hash_ & last;
    if (((next - home) & last) < ((next - slot) & last)) continue;  // it may stay
    slots_[slot] = std::exchange(slots_[next], nullptr);
    slot = next;
  }
}

const Rule* Matcher::look_up(Packet& packet, const GeneveOption& option) const {
  std::uint64_t masked_words[kWords];
  if (!words_.empty()) {
    const std::uint8_t* key = packet.key(sections_, option).bytes();
    for (std::size_t i = 0; i < words_.size(); ++i) {
      std::uint64_t bits;
      std::memcpy(&bits, key + words_[i].offset, sizeof bits);
      masked_words[i] = bits & words_[i].mask;
    }
  }
  return slots_[slot_of(masked_words, hash_of(masked_words, words_.size()))];
}

std::size_t FlowTable::rules() const {
  std::size_t count = 0;
  for (const auto& matcher : matchers_) count += matcher->rules();
  return count;
}

Matcher& FlowTable::add_matcher(std::uint32_t priority, std::span<const std::uint8_t> mask) {
  const auto at = std::upper_bound(matchers_.begin(), matchers_.end(), priority,
                                   [](std::uint32_t p, const auto& matcher) { return p < matcher->priority(); });
  return **matchers_.insert(at, std::make_unique<Matcher>(priority, mask));
}

Matcher* FlowTable::find_matcher(std::uint32_t priority, std::span<const std::uint8_t> mask) const {
  for (const auto& matcher : matchers_) {
    if (matcher->priority() == priority && matcher->has_mask(mask)) return matcher.get();
  }
  return nullptr;
}

void FlowTable::remove_matcher(Matcher& matcher) {
  std::erase_if(matchers_, [&](const auto& candidate) { return candidate.get() == &matcher; });
}

const Rule* FlowTable::look_up(Packet& packet, const GeneveOption& option) const {
  for (const auto& matcher : matchers_) {
    if (const Rule* rule = matcher->look_up(packet, option)) return rule;
  }
  return nullptr;
}

}  // namespace verbs::mlx5::steering
