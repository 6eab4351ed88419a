#include "model/channel/peer_table.h"

#include <utility>

namespace verbs::doca_comm::model {

Peer* find_peer(const doca_comm_channel_addr_t* address) {
  Peer* peer = AddressPool::get().find(address);
  return peer && peer->transport ? peer : nullptr;
}

std::uint32_t PeerTable::next_number() {
  std::size_t index = 0;
  while (index < entries_.size() && entries_[index].peer) ++index;
  if (index == entries_.size()) entries_.emplace_back();
  return (++entries_[index].generation << kIndexBits) | static_cast<std::uint32_t>(index);
}

Peer* PeerTable::add(std::shared_ptr<Peer> peer) {
  Entry& entry = entry_of(peer->number);
  entry.address = AddressPool::get().add(peer);
  entry.peer = std::move(peer);
  return entry.peer.get();
}

void PeerTable::remove(Peer& peer) {
  Entry& entry = entry_of(peer.number);
  peer.connection.reset();
  peer.transport = nullptr;
  AddressPool::get().remove(entry.address);
  entry.address = nullptr;
  entry.peer.reset();
}

Peer* PeerTable::find(std::uint32_t number) {
  if (index_of(number) >= entries_.size()) return nullptr;
  Peer* peer = entry_of(number).peer.get();
  return peer && peer->number == number ? peer : nullptr;
}

std::size_t PeerTable::count() const {
  std::size_t count = 0;
  each([&](const Peer&) { ++count; });
  return count;
}

std::size_t PeerTable::count_connected() const {
  std::size_t count = 0;
  each([&](const Peer& peer) { count += peer.lost ? 0 : 1; });
  return count;
}

}  // namespace verbs::doca_comm::model
