// The Ethernet side of a port: its link to the switch, with the capture and the fault plan in front. Frames that the
// port sends to its own address return to it and never reach the switch. Used under the device's lock.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "host/ports/link_stack.h"
#include "host/progress/clock.h"
#include "link/ethernet/ethernet_switch.h"

namespace verbs::soft::host {

class EthernetPort final : public link::Transmitter {
 public:
  // `notify`: a frame arrived, as in link::SwitchLink. `teaches`: the switch learns from the port's frames.
  EthernetPort(const link::Mac& mac, const std::string& switch_name, bool teaches, std::function<void()> notify);

  std::uint8_t* reserve() override { return reserved_ = stack_.top().reserve(); }
  void commit(std::size_t size) override {
    if (!take_back({reserved_, size})) stack_.top().commit(size);
  }
  void send(std::span<const std::uint8_t> frame) override {
    if (!take_back(frame)) stack_.top().send(frame);
  }
  void flush() override { stack_.top().flush(); }

  // Off the switch, the port sends and receives nothing.
  void set_plugged(bool plugged);

  // As PortStack's functions of these names.
  LinkStack& stack() { return stack_; }
  void advance(Nanos now) {
    if (stack_.is_timed()) stack_.top().advance(now);
  }
  Nanos next_deadline() { return stack_.is_timed() ? stack_.top().next_deadline() : INT64_MAX; }

  // `looped`: this port sent the frame to its own address.
  class Receiver {
   public:
    virtual void deliver(std::span<const std::uint8_t> frame, bool looped) = 0;

   protected:
    ~Receiver() = default;
  };
  // Returns the number of received frames.
  std::size_t receive(Receiver& receiver, std::size_t budget);

  void count(LinkCounters* counters) const;

 private:
  // Whether the frame is for this port; then it is queued for receive().
  bool take_back(std::span<const std::uint8_t> frame);

  link::Mac mac_;
  std::function<void()> notify_;
  link::SwitchLink link_;
  LinkStack stack_;
  std::unique_ptr<link::FrameQueue> looped_;  // allocated at the first such frame
  std::uint64_t loop_overflow_ = 0;
  std::uint8_t* reserved_ = nullptr;
};

}  // namespace verbs::soft::host
