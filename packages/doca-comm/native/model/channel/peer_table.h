// The peers of an endpoint, by number. A number is unique to the endpoint: it names a place in the table and the
// generation of the peer in it, so that a late completion of a removed peer matches no other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/channel/peer.h"

namespace verbs::doca_comm::model {

class PeerTable {
 public:
  // The number of the peer that the next add() takes. Each call gives another one.
  std::uint32_t next_number();
  Peer* add(std::shared_ptr<Peer> peer);
  void remove(Peer& peer);
  // nullptr if it was removed.
  Peer* find(std::uint32_t number);
  doca_comm_channel_addr_t* address_of(const Peer& peer) { return entry_of(peer.number).address; }

  // All peers, with the lost ones that the user has not disconnected yet.
  template <typename Call>
  void each(Call&& call) const {
    for (const Entry& entry : entries_) {
      if (entry.peer) call(*entry.peer);
    }
  }
  std::size_t count() const;
  std::size_t count_connected() const;  // without the lost ones

 private:
  struct Entry {
    std::uint32_t generation = 0;
    std::shared_ptr<Peer> peer;
    doca_comm_channel_addr_t* address = nullptr;
  };
  static constexpr std::uint32_t kIndexBits = 16;
  static std::size_t index_of(std::uint32_t number) { return number & ((1u << kIndexBits) - 1); }
  Entry& entry_of(std::uint32_t number) { return entries_[index_of(number)]; }

  std::vector<Entry> entries_;
};

}  // namespace verbs::doca_comm::model
