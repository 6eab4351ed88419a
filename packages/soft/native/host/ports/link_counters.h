// The sums of the counters of a device's links.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>

#include "link/ethernet/tap.h"
#include "link/faults/fault_link.h"
#include "link/inproc/inproc_link.h"
#include "link/shm/shm_link.h"
#include "link/udp/udp_link.h"

namespace verbs::soft::host {

// A counter of a structure that has nothing else, and its name.
template <typename Counters>
using CounterName = std::pair<const char*, std::uint64_t Counters::*>;

class LinkCounters {
 public:
  using Counter = std::function<void(const char* name, std::uint64_t value)>;

  // The counters of a link: a structure that has nothing but numbers of 64 bits, so that none is forgotten in the sum.
  template <typename Counters>
  void add(const Counters& more) {
    using Words = std::array<std::uint64_t, sizeof(Counters) / sizeof(std::uint64_t)>;
    auto& sum = std::get<Counters>(sums_);
    auto words = std::bit_cast<Words>(sum);
    const auto added = std::bit_cast<Words>(more);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] += added[i];
    sum = std::bit_cast<Counters>(words);
  }
  void add(const LinkCounters& more) {
    std::apply([this](const auto&... each) { (add(each), ...); }, more.sums_);
  }

  void report(const Counter& counter) const;
  void report_switch(const Counter& counter) const;

 private:
  std::tuple<link::UdpCounters, link::InprocCounters, link::ShmCounters, link::FaultCounters, link::SwitchCounters,
             link::TapCounters>
      sums_;
};

}  // namespace verbs::soft::host
