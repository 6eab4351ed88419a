// Memory of this process that peers on the same host may map. What a frame refers to there is copied from the peer's
// own mapping, without a system call for each copy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace verbs::soft::link {

struct Offer {
  std::uint64_t address = 0;  // where this process has it
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  // in the file of the descriptor
  std::uint32_t fd = 0;      // of this process, open until the offer is withdrawn
  std::uint32_t id = 0;      // 0: no offer

  bool operator==(const Offer&) const = default;
  bool covers(std::uint64_t from, std::uint64_t bytes) const {
    const std::uint64_t at = from - address;
    return id != 0 && at <= size && bytes <= size - at;
  }
};

// The offers of a device, used under its lock.
class OfferedMemory {
 public:
  static constexpr std::size_t kMost = 64;
  using List = std::array<Offer, kMost>;

  // Returns the id of the offer, or 0: there is no place, and peers have to read that memory in other ways.
  std::uint32_t add(const Offer& offer) {
    for (Offer& place : list_) {
      if (place.id != 0) continue;
      if (++last_id_ == 0) ++last_id_;
      place = offer;
      place.id = last_id_;
      ++version_;
      return last_id_;
    }
    return 0;
  }

  void withdraw(std::uint32_t id) {
    for (Offer& place : list_) {
      if (id == 0 || place.id != id) continue;
      place = {};
      ++version_;
    }
  }

  const List& list() const { return list_; }
  // Changes with the list.
  std::uint64_t version() const { return version_; }

 private:
  List list_;
  std::uint32_t last_id_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace verbs::soft::link
