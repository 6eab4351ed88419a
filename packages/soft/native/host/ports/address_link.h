// The link of a port with several addresses, or with addresses that change. A frame leaves by the link of its source
// address.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "link/link.h"
#include "wire/gid.h"

namespace verbs::soft::host {

class AddressLink final : public link::Link {
 public:
  // A link must outlive this one, or be removed before it is destroyed.
  explicit AddressLink(std::vector<std::pair<wire::Gid, link::Link*>> links);

  void add(const wire::Gid& address, link::Link* link) { links_.emplace_back(address, link); }
  void remove(const wire::Gid& address);

  // A frame is built in the first link's buffer and copied if it leaves by another link. Without any link it is
  // dropped.
  std::uint8_t* reserve() override;
  void commit(std::size_t size) override;
  void commit_unsealed(std::span<std::uint8_t> frame) override;
  bool takes_references(const wire::Gid& source, const wire::Gid& destination) override;
  int route(const wire::Gid& source, const wire::Gid& destination) override;
  void commit_referring(std::span<std::uint8_t> frame) override;
  void revoke_references() override;
  void flush() override;
  bool congested(const wire::Gid& destination) override;  // if one of its links is
  std::uint64_t relieve() override;
  link::Nanos next_deadline() const override;
  std::uint16_t fixed_source_port() const override { return source_port_; }
  std::size_t receive(link::Receiver& receiver, std::size_t budget) override;

 private:
  std::vector<std::pair<wire::Gid, link::Link*>> links_;
  std::uint16_t source_port_;
  link::Link* link_of(std::span<const std::uint8_t> frame) const;

  std::uint8_t* reserved_ = nullptr;
  std::uint64_t removed_relieved_ = 0;       // of links that were removed
  std::unique_ptr<std::uint8_t[]> nowhere_;  // for frames, while there is no link
};

}  // namespace verbs::soft::host
