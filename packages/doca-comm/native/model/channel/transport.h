// The peers of one endpoint and everything that passes between them: what a service and a client have in common.
//
// The user's thread and the thread of the meeting point both come here: every function needs the lock, except
// disconnect(), which takes it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "doca_comm_channel.h"
#include "model/channel/event_channel.h"
#include "model/channel/handles.h"
#include "model/channel/peer.h"

struct doca_comm_channel_addr_t : verbs::doca_comm::model::Handle<verbs::doca_comm::model::Peer> {};

namespace verbs::doca_comm::model {

using AddressPool = HandlePool<doca_comm_channel_addr_t, Peer>;

class Transport {
 public:
  // A service reports a lost peer once, and frees one that the user never heard of by itself.
  Transport(doca_dev& dev, const Sizes& sizes, bool service) : dev_(dev), sizes_(sizes), service_(service) {}
  ~Transport() { close(); }
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  std::mutex& mutex() { return mutex_; }
  doca_error_t open();
  // Frees everything, with the descriptors. Nothing is sent to the peers.
  void close();
  int send_fd() const { return send_events_.fd(); }
  int recv_fd() const { return recv_events_.fd(); }

  doca_error_t add(Peer** peer);
  void remove(Peer& peer);
  doca_comm_channel_addr_t* address_of(const Peer& peer);
  // Those that are there, with the lost ones that the user has not disconnected yet.
  template <typename Call>
  void each(Call&& call) {
    for (const Entry& entry : peers_) {
      if (entry.peer) call(*entry.peer);
    }
  }
  std::size_t living() const;
  // Also counts those that are lost and not freed.
  std::size_t count() const;

  doca_error_t send(Peer& peer, const void* message, std::size_t size);
  doca_error_t receive(void* message, std::size_t* size, doca_comm_channel_addr_t** from);
  doca_error_t update(Peer& peer);
  // Waits, for a limited time, until what was sent has arrived; then frees the peers.
  doca_error_t disconnect(const std::vector<Peer*>& peers);

  void arm_send();
  // `more` says that there is something to fetch besides messages.
  void arm_recv(bool more);
  void notify_recv();  // wakes who armed
  void notify_send();
  // The connection is lost, or was never made.
  void lose(Peer& peer);
  void keep_alive();
  // Counts peers that came and went.
  std::uint64_t changes() const { return changes_; }

 private:
  struct Entry {
    std::uint32_t generation = 0;
    std::shared_ptr<Peer> peer;
    doca_comm_channel_addr_t* address = nullptr;
  };
  // Told when what had arrived before is delivered, which others cannot put off by sending more: at the latest when so
  // many completions are taken.
  struct Loss {
    std::uint32_t number;
    std::uint64_t due;
  };
  static constexpr int kBatch = 16;

  Peer* find(std::uint32_t number);
  bool fetch();
  void take();
  doca_error_t deliver(Peer& peer, const Connection::Message& found, void* message, std::size_t* size);
  bool report_loss(doca_comm_channel_addr_t** from);
  void take_completions();
  bool has_room(const Peer& peer) const { return peer.connection->has_slot() && peer.connection->has_credit(); }
  bool settled(const std::vector<Peer*>& peers);
  void wait_until_settled(const std::vector<Peer*>& peers, Nanos limit);

  doca_dev& dev_;
  const Sizes sizes_;
  const bool service_;
  std::mutex mutex_;
  EventChannel send_events_;
  EventChannel recv_events_;
  CompletionQueues sends_;
  CompletionQueues receives_;
  std::vector<Entry> peers_;
  std::deque<Loss> lost_;  // not reported yet
  std::uint64_t taken_ = 0;
  ibv_wc batch_[kBatch];
  int batch_size_ = 0;
  int batch_next_ = 0;
  bool poll_failed_ = false;
  bool send_armed_ = false;
  bool recv_armed_ = false;
  std::uint64_t changes_ = 0;
};

}  // namespace verbs::doca_comm::model
