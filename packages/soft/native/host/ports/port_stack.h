// The stacked links of one port. Frames from the NIC pass down, received frames pass up:
//
//   model        a vendor's model inspects and rewrites frames (if the device has one, and it watches now)
//   faults       the device's fault plan
//   capture      the frames that really leave and arrive
//   address(es)  each an in-process link in front of a UDP socket
//
// Faults, captures and addresses can change while the port runs. Used under the device's lock.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/configuration/configuration.h"
#include "host/models/model_link.h"
#include "host/ports/link_counters.h"
#include "host/ports/link_stack.h"
#include "host/ports/port_addresses.h"
#include "host/progress/clock.h"
#include "link/capture/pcapng_writer.h"
#include "link/link.h"

namespace verbs::soft::host {

class PortStack final : public link::Transmitter {
 public:
  // Claims the port's addresses. 0, or fail()'s errno.
  static int open(const PortSetup& setup, std::unique_ptr<PortStack>* port);

  // For all calls but add() and remove(), which change the stack.
  PortAddresses& addresses() { return addresses_; }
  const PortAddresses& addresses() const { return addresses_; }
  // As PortAddresses::add() and remove().
  int add_address(const wire::Gid& address);
  int remove_address(const wire::Gid& address);

  // Claims an address that is offered.
  int use(const wire::Gid& source) override;
  // As PortAddresses::open_service(). Claims the offered addresses at which the service is.
  int open_service(const link::Service& service);
  // As PortAddresses::follow_host(). Claims those that come if a service is for every address.
  void follow_host(Nanos now, const std::function<void(const wire::Gid&)>& come,
                   const std::function<void(const wire::Gid&)>& gone);
  // Whether the sockets have changed since the last call.
  bool take_change() { return std::exchange(changed_, false); }

  std::uint8_t* reserve() override { return top_->reserve(); }
  void commit(std::size_t size) override { top_->commit(size); }
  void commit_unsealed(std::span<std::uint8_t> frame) override { top_->commit_unsealed(frame); }
  bool takes_references(const wire::Gid& source, const wire::Gid& destination, std::uint32_t qp_num) override {
    return top_->takes_references(source, destination, qp_num);
  }
  int route(const wire::Gid& source, const wire::Gid& destination, std::uint32_t* mtu) override {
    return top_->route(source, destination, mtu);
  }
  void commit_referring(std::span<std::uint8_t> frame) override { top_->commit_referring(frame); }
  // A capture, a fault plan and a model look at packets.
  std::shared_ptr<link::Neighbour> neighbour(const wire::Gid& source, const wire::Gid& destination) override {
    return top_->neighbour(source, destination);
  }
  link::MessageWay* message_way(const wire::Gid& source, const wire::Gid& destination, std::uint32_t qp_num) override {
    return top_->message_way(source, destination, qp_num);
  }
  // Past captures and fault plans, which pass on no such frames and may be new.
  void revoke_references() override { addresses_.link().revoke_references(); }
  void flush() override { top_->flush(); }
  bool congested(const wire::Gid& destination, std::uint32_t qp_num) override {
    return top_->congested(destination, qp_num);
  }
  std::uint64_t relieve() override { return top_->relieve(); }
  std::uint16_t fixed_source_port() const override { return top_->fixed_source_port(); }

  std::size_t receive(link::Receiver& receiver, std::size_t budget) { return top_->receive(receiver, budget); }
  // Sends the delayed frames that are due. Call it before frames pass: the fault plan needs the time.
  void advance(Nanos now) {
    if (timed_) top_->advance(now);
  }
  Nanos next_deadline() const { return timed_ ? top_->next_deadline() : addresses_.next_deadline(); }

  // 0 or errno. The capture writes to `path` as it is given.
  int start_capture(const std::string& path, const CaptureConfig& capture);
  std::shared_ptr<link::PcapngWriter> capture_writer() const;  // nullptr without a capture
  int stop_capture();                                          // the error that ended the capture early, or 0
  void flush_capture();
  void abandon_capture();  // in a forked child
  // As LinkStack's.
  std::unique_ptr<link::FaultLink> make_faults(const link::FaultPlan& plan) { return stack_->make_faults(plan); }
  void set_faults(std::unique_ptr<link::FaultLink> faults);
  // Frames pass the model, which only watches, from now on or no longer.
  // EOPNOTSUPP: the model does more than that, or nothing.
  int watch(bool watched);
  void count(LinkCounters* counters) const;  // adds the counters of this port
  // Adds the counters of the fault plan's rules, the plan's own rule first; nothing without a plan.
  void count_rules(std::vector<link::RuleCounters>* sums) const;

 private:
  PortStack() = default;
  void find_top();

  FrameHook hook_;
  std::uint8_t port_num_ = 1;
  PortAddresses addresses_;
  std::unique_ptr<LinkStack> stack_;
  std::unique_ptr<ModelLink> model_;
  link::Link* top_ = nullptr;
  bool watched_ = false;  // frames pass the model
  bool timed_ = false;    // the fault plan may delay frames
  bool changed_ = false;  // addresses were claimed
};

}  // namespace verbs::soft::host
