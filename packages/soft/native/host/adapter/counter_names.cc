#include "host/adapter/counter_names.h"

#include <array>
#include <utility>

namespace verbs::soft::host {

namespace {

using nic::Counters;
using nic::FrameCounters;

template <typename Block>
using Names = std::pair<const char*, std::uint64_t Block::*>;

// In the order of the members.
constexpr Names<Counters> kCounters[] = {
    {"sent_pkts", &Counters::sent_pkts},
    {"rcvd_pkts", &Counters::rcvd_pkts},
    {"sent_bytes", &Counters::sent_bytes},
    {"rcvd_bytes", &Counters::rcvd_bytes},
    {"duplicate_request", &Counters::duplicate_request},
    {"out_of_seq_request", &Counters::out_of_seq_request},
    {"rcvd_rnr_err", &Counters::rcvd_rnr_err},
    {"send_rnr_err", &Counters::send_rnr_err},
    {"rcvd_seq_err", &Counters::rcvd_seq_err},
    {"retry_exceeded_err", &Counters::retry_exceeded_err},
    {"retry_rnr_exceeded_err", &Counters::retry_rnr_exceeded_err},
    {"completer_retry_err", &Counters::completer_retry_err},
    {"ack_deferred", &Counters::ack_deferred},
    {"ack_timeout", &Counters::ack_timeout},
    {"retransmitted_pkts", &Counters::retransmitted_pkts},
    {"icrc_err", &Counters::icrc_err},
    {"dropped_pkts", &Counters::dropped_pkts},
    {"link_downed", &Counters::link_downed},
    {"link_dropped", &Counters::link_dropped},
    {"rdma_sends", &Counters::rdma_sends},
    {"rdma_recvs", &Counters::rdma_recvs},
};
static_assert(std::size(kCounters) * sizeof(std::uint64_t) == sizeof(Counters), "a counter has no name");

constexpr Names<FrameCounters> kFrameCounters[] = {
    {"raw_sent_frames", &FrameCounters::raw_sent_frames},
    {"raw_sent_bytes", &FrameCounters::raw_sent_bytes},
    {"raw_rcvd_frames", &FrameCounters::raw_rcvd_frames},
    {"raw_rcvd_bytes", &FrameCounters::raw_rcvd_bytes},
    {"raw_delivered", &FrameCounters::raw_delivered},
    {"out_of_buffer", &FrameCounters::out_of_buffer},
    {"raw_not_receiving", &FrameCounters::raw_not_receiving},
    {"raw_loopback_blocked", &FrameCounters::raw_loopback_blocked},
    {"raw_malformed", &FrameCounters::raw_malformed},
};
static_assert(std::size(kFrameCounters) * sizeof(std::uint64_t) == sizeof(FrameCounters), "one has no name");

}  // namespace

void report(const nic::Counters& counters, const LinkCounters& links, const Counter& counter) {
  for (const auto& [name, member] : kCounters) counter(name, counters.*member);
  links.report(counter);
}

void report(const nic::FrameCounters& counters, const LinkCounters& links, const Counter& counter) {
  for (const auto& [name, member] : kFrameCounters) counter(name, counters.*member);
  links.report_switch(counter);
}

std::vector<const char*> names_in_order(bool has_frames) {
  std::vector<const char*> names;
  for (const auto& entry : kCounters) names.push_back(entry.first);
  for (const auto& entry : kFrameCounters) names.push_back(has_frames ? entry.first : nullptr);
  return names;
}

}  // namespace verbs::soft::host
