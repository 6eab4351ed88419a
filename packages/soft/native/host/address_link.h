// The link of a port with several addresses: a frame leaves through the link of its source address.
#pragma once

#include <utility>
#include <vector>

#include "../link/link.h"
#include "../wire/gid.h"

namespace verbs::soft::host {

class AddressLink final : public link::Link {
 public:
  // Not empty; the links must outlive this one.
  explicit AddressLink(std::vector<std::pair<wire::Gid, link::Link*>> links) : links_(std::move(links)) {}

  // Frames are built in the first link's buffer and copied if they turn out to be another's.
  std::uint8_t* reserve() override { return reserved_ = links_.front().second->reserve(); }
  void commit(std::size_t size) override;
  void flush() override;
  std::uint16_t fixed_source_port() const override { return links_.front().second->fixed_source_port(); }
  std::size_t receive(link::Receiver& receiver, std::size_t budget) override;

 private:
  std::vector<std::pair<wire::Gid, link::Link*>> links_;
  std::uint8_t* reserved_ = nullptr;
};

}  // namespace verbs::soft::host
