// The handshakes of a device: one UD queue pair, and a thread that receives its datagrams. Its number is the well-known
// one in the first process at an address, which is where clients of other hosts come to (option dpu_address). The
// thread also runs the timers of the device's services and clients, so that their keep-alives do not depend on the
// user.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "doca_error.h"
#include "model/base/clock.h"
#include "model/base/wake_event.h"
#include "model/setup/handshake.h"
#include "model/setup/liveness.h"

namespace verbs::doca_comm::model {

// A service or a client. The thread calls it without a lock of the handshake channel.
class HandshakeHandler {
 public:
  virtual ~HandshakeHandler() = default;
  virtual void on_handshake(const HandshakeMessage& message, const UdAddress& from) = 0;
  // Returns the time by which it wants the next call.
  virtual Nanos on_timer(Nanos now) = 0;
};

class HandshakeChannel {
 public:
  static doca_error_t open(ibv_context* context, ibv_pd* pd, std::shared_ptr<HandshakeChannel>* channel);
  ~HandshakeChannel();
  // Ends the thread. Its handlers find the channel by their device: it stays there until then.
  void stop();
  HandshakeChannel(const HandshakeChannel&) = delete;
  HandshakeChannel& operator=(const HandshakeChannel&) = delete;

  // False if the representor has a service of that name.
  bool add_service(const std::string& representor, const std::string& name, std::shared_ptr<HandshakeHandler> service);
  void add_client(std::uint64_t client_id, std::shared_ptr<HandshakeHandler> client);
  void remove(const HandshakeHandler* handler);
  // Runs the timers soon: a handler wants to be called before the time that it has returned.
  void wake() { wake_.signal(); }
  std::uint32_t qpn() const { return qp_->qp_num; }
  // Unreliable: drops the message if all send slots are in use.
  void send(const HandshakeMessage& message, const UdAddress& to);
  Liveness& liveness() { return liveness_; }

 private:
  HandshakeChannel(ibv_context* context, ibv_pd* pd) : context_(context), pd_(pd) {}
  doca_error_t start();
  bool create_queue_pair();
  int post_receive(std::uint32_t slot);
  void run();
  // At most a queue full of completions. True if there may be more.
  bool receive();
  void dispatch(const HandshakeMessage& message, const UdAddress& from);
  std::shared_ptr<HandshakeHandler> handler_of(const HandshakeMessage& message);
  // Runs all timers. The time of the next one.
  Nanos run_timers();
  void poll_sends();

  static constexpr std::uint32_t kReceives = 256;
  static constexpr std::uint32_t kSends = 64;
  static constexpr std::size_t kGrh = 40;
  static constexpr std::size_t kSlot = 256;
  // The end of every receive request: what is too long to be a message must not be too long for the request, which
  // would end the queue pair.
  static constexpr std::size_t kRest = 4096;
  static constexpr std::size_t kRestAt = (kReceives + kSends) * kSlot;

  ibv_context* context_;
  ibv_pd* pd_;
  std::vector<std::uint8_t> memory_;
  ibv_mr* mr_ = nullptr;
  ibv_comp_channel* channel_ = nullptr;
  ibv_cq* cq_ = nullptr;
  ibv_cq* send_cq_ = nullptr;  // without a channel: no one waits for sends
  ibv_qp* qp_ = nullptr;
  WakeEvent wake_;  // ends the thread's wait
  std::thread thread_;
  std::atomic<bool> stopping_{false};

  std::mutex table_mutex_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<HandshakeHandler>> services_;
  std::map<std::uint64_t, std::shared_ptr<HandshakeHandler>> clients_;

  Liveness liveness_;
  std::mutex send_mutex_;
  std::vector<std::uint32_t> free_sends_;
  std::vector<ibv_ah*> address_handles_;  // of each slot, until it is used again
};

}  // namespace verbs::doca_comm::model
