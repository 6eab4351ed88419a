// The links of one port, stacked. What the NIC sends goes down, what arrives comes up:
//
//   model        a vendor's model sees and rewrites frames (if its device has one)
//   faults       the device's fault plan
//   capture      what really leaves and arrives
//   address(es)  each an in-process link in front of a UDP socket
//
// Faults, captures and addresses come and go while the port runs. Used under the device's lock.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/configuration/configuration.h"
#include "host/models/model_link.h"
#include "host/ports/link_counters.h"
#include "host/progress/clock.h"
#include "link/capture/pcapng_writer.h"
#include "link/link.h"

namespace verbs::soft::host {

struct PortSetup {
  bool has_tunnels() const { return hook.model && hook.model->tunnels; }

  const DeviceConfig& config;
  std::uint8_t port_num;  // from 1
  FrameHook hook;
  std::function<void()> notify;  // a frame came in from this process: called by any thread, without the device's lock
};

class PortStack final : public link::Transmitter {
 public:
  // Claims the port's addresses. 0, or fail()'s errno.
  static int open(const PortSetup& setup, std::unique_ptr<PortStack>* port);
  ~PortStack() override;

  // The addresses at the start, IPv4 first: what the GID table begins with.
  const std::vector<wire::Gid>& gids() const { return gids_; }
  // Claims one more address, gives one back. 0, or fail()'s errno: EADDRINUSE, EADDRNOTAVAIL; ENOENT.
  int add_address(const wire::Gid& address);
  int remove_address(const wire::Gid& address);
  // What is sent to the multicast group arrives from now on, by one of the addresses of each sort that can: 0 or
  // fail()'s errno.
  int join(const wire::Gid& group);
  void leave(const wire::Gid& group);
  void add_sockets(std::vector<int>* sockets) const;

  std::uint8_t* reserve() override { return top_->reserve(); }
  void commit(std::size_t size) override { top_->commit(size); }
  void flush() override { top_->flush(); }
  std::uint16_t fixed_source_port() const override { return top_->fixed_source_port(); }

  std::size_t receive(link::Receiver& receiver, std::size_t budget) { return top_->receive(receiver, budget); }
  // Held frames that are due go out. Links that hold frames need to be told the time before anything passes them.
  void advance(Nanos now) {
    if (timed_) top_->advance(now);
  }
  Nanos next_deadline() const { return timed_ ? top_->next_deadline() : INT64_MAX; }

  // Packets of such tunnels arrive from now on. 0, or fail()'s errno.
  int listen(const wire::Tunnel& tunnel);
  void unlisten(const wire::Tunnel& tunnel);  // before the tunnel goes

  // 0 or errno. The capture writes to `path` as it is given.
  int start_capture(const std::string& path, const CaptureConfig& capture);
  std::shared_ptr<link::PcapngWriter> capture_writer() const;  // nullptr without a capture
  int stop_capture();                                          // the error that ended the capture early, or 0
  void flush_capture();
  void set_faults(const link::FaultPlan& plan);
  void count(LinkCounters* counters) const;  // adds this port's
  // Adds those of the fault plan's rules, the plan's own first; nothing if there is no plan.
  void count_rules(std::vector<link::RuleCounters>* sums) const;

 private:
  struct Links;

  PortStack();
  int open_addresses(const PortSetup& setup);
  void make_changeable();

  std::unique_ptr<Links> links_;
  std::vector<wire::Gid> gids_;
  link::Link* top_ = nullptr;
  bool timed_ = false;  // a fault plan may hold frames
};

}  // namespace verbs::soft::host
