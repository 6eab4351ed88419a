// Where clients and services of a device meet: one UD queue pair on the well-known number, and a thread that answers
// datagrams and lets the connections of the device look after themselves when nobody calls them.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "doca_error.h"
#include "model/base/clock.h"
#include "model/setup/handshake.h"

namespace verbs::doca_comm::model {

// A service or a client. Called by the thread, without a lock of the meeting point.
class HandshakeHandler {
 public:
  virtual ~HandshakeHandler() = default;
  virtual void on_datagram(const HandshakeMessage& datagram, const UdAddress& sender) = 0;
  // Gives the time of the next call, at the latest.
  virtual Nanos on_tick(Nanos now) = 0;
};

class HandshakeChannel {
 public:
  static doca_error_t open(ibv_context* context, ibv_pd* pd, std::shared_ptr<HandshakeChannel>* point);
  ~HandshakeChannel();
  HandshakeChannel(const HandshakeChannel&) = delete;
  HandshakeChannel& operator=(const HandshakeChannel&) = delete;

  // False if there is a service of that name on that representor.
  bool add_service(const std::string& representor, const std::string& name, std::shared_ptr<HandshakeHandler> service);
  void add_client(std::uint64_t client_id, std::shared_ptr<HandshakeHandler> client);
  void remove(const HandshakeHandler* attendant);
  // May be lost, as on any network, and is when too many are on their way.
  void send(const HandshakeMessage& datagram, const UdAddress& to);
  // Somebody has something to do earlier than it said.
  void wake();

 private:
  HandshakeChannel(ibv_context* context, ibv_pd* pd) : context_(context), pd_(pd) {}
  doca_error_t start();
  bool make_queue_pair();
  int post_receive(std::uint32_t slot);
  void run();
  // At most a queue full of completions; true if there may be more.
  bool take_in();
  void dispatch(const HandshakeMessage& datagram, const UdAddress& sender);
  std::shared_ptr<HandshakeHandler> receiver_of(const HandshakeMessage& datagram);
  Nanos tick();
  void reap();

  static constexpr std::uint32_t kReceives = 256;
  static constexpr std::uint32_t kSends = 64;
  static constexpr std::size_t kGrh = 40;
  static constexpr std::size_t kSlot = 256;

  ibv_context* context_;
  ibv_pd* pd_;
  std::vector<std::uint8_t> memory_;
  ibv_mr* mr_ = nullptr;
  ibv_comp_channel* channel_ = nullptr;
  ibv_cq* cq_ = nullptr;
  ibv_cq* send_cq_ = nullptr;  // nobody waits for those
  ibv_qp* qp_ = nullptr;
  int bell_ = -1;
  std::thread thread_;
  std::atomic<bool> stopping_{false};

  std::mutex table_mutex_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<HandshakeHandler>> services_;
  std::map<std::uint64_t, std::shared_ptr<HandshakeHandler>> clients_;

  std::mutex send_mutex_;
  std::vector<std::uint32_t> free_sends_;
  std::vector<ibv_ah*> handles_;  // of a slot, until it is used again
};

}  // namespace verbs::doca_comm::model
