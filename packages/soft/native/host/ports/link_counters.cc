#include "host/ports/link_counters.h"

namespace verbs::soft::host {

void LinkCounters::add(const link::UdpCounters& more) {
  udp_.sent += more.sent;
  udp_.received += more.received;
  udp_.send_dropped += more.send_dropped;
  udp_.receive_dropped += more.receive_dropped;
  udp_.wrong_source_port += more.wrong_source_port;
}

void LinkCounters::add(const link::InprocCounters& more) {
  process_.sent += more.sent;
  process_.received += more.received;
  process_.overflow += more.overflow;
  process_.unreachable += more.unreachable;
}

void LinkCounters::add(const link::ShmCounters& more) {
  shm_.sent += more.sent;
  shm_.received += more.received;
  shm_.dropped += more.dropped;
  shm_.rejected += more.rejected;
  shm_.pulled += more.pulled;
  shm_.mapped += more.mapped;
  shm_.unpulled += more.unpulled;
  shm_.broken += more.broken;
  shm_.forwarded += more.forwarded;
  shm_.unowned += more.unowned;
}

void LinkCounters::add(const LinkCounters& more) {
  add(more.udp_);
  add(more.process_);
  add(more.shm_);
  add(more.faults_);
  add(more.switch_);
  add(more.tap_);
}

void LinkCounters::add(const link::TapCounters& more) {
  tap_.sent += more.sent;
  tap_.received += more.received;
  tap_.dropped += more.dropped;
}

void LinkCounters::add(const link::SwitchCounters& more) {
  switch_.sent += more.sent;
  switch_.received += more.received;
  switch_.overflow += more.overflow;
  switch_.filtered += more.filtered;
}

void LinkCounters::add(const link::FaultCounters& more) {
  faults_.passed += more.passed;
  faults_.dropped += more.dropped;
  faults_.duplicated += more.duplicated;
  faults_.reordered += more.reordered;
  faults_.corrupted += more.corrupted;
  faults_.truncated += more.truncated;
  faults_.delayed += more.delayed;
  faults_.overflow += more.overflow;
}

void LinkCounters::report(const Counter& counter) const {
  counter("send_err", udp_.send_dropped + process_.overflow + process_.unreachable + shm_.dropped);
  counter("link_udp_sent", udp_.sent);
  counter("link_udp_received", udp_.received);
  counter("link_udp_send_dropped", udp_.send_dropped);
  counter("link_udp_receive_dropped", udp_.receive_dropped);
  counter("link_udp_wrong_source_port", udp_.wrong_source_port);
  counter("link_shm_sent", shm_.sent);
  counter("link_shm_received", shm_.received);
  counter("link_shm_dropped", shm_.dropped);
  counter("link_shm_rejected", shm_.rejected);
  counter("link_shm_pulled", shm_.pulled);
  counter("link_shm_mapped", shm_.mapped);
  counter("link_shm_unpulled", shm_.unpulled);
  counter("link_shm_broken", shm_.broken);
  counter("link_shm_forwarded", shm_.forwarded);
  counter("link_shm_unowned", shm_.unowned);
  counter("link_process_sent", process_.sent);
  counter("link_process_received", process_.received);
  counter("link_process_overflow", process_.overflow);
  counter("link_process_unreachable", process_.unreachable);
  counter("fault_dropped", faults_.dropped);
  counter("fault_duplicated", faults_.duplicated);
  counter("fault_reordered", faults_.reordered);
  counter("fault_corrupted", faults_.corrupted);
  counter("fault_truncated", faults_.truncated);
  counter("fault_delayed", faults_.delayed);
  counter("fault_overflow", faults_.overflow);
}

void LinkCounters::report_switch(const Counter& counter) const {
  counter("link_switch_sent", switch_.sent);
  counter("link_switch_received", switch_.received);
  counter("link_switch_overflow", switch_.overflow);
  counter("link_switch_filtered", switch_.filtered);
  counter("link_tap_sent", tap_.sent);
  counter("link_tap_received", tap_.received);
  counter("link_tap_dropped", tap_.dropped);
}

}  // namespace verbs::soft::host
