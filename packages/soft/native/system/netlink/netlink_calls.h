// One netlink message as it is written.
#pragma once

#include <linux/netlink.h>

#include <cstdint>
#include <string_view>

#include "system/memory.h"

namespace verbs::soft::system {

class NetlinkMessage {
 public:
  // Receivers have room for 4096 bytes, and an entry needs up to 400: lists go on in another message.
  static constexpr std::size_t kFull = 3600;

  void begin(const nlmsghdr& request, std::uint16_t type, std::uint16_t flags, std::uint32_t port) {
    memory_.resize(0);
    const nlmsghdr header{
        .nlmsg_len = 0, .nlmsg_type = type, .nlmsg_flags = flags, .nlmsg_seq = request.nlmsg_seq, .nlmsg_pid = port};
    payload(&header, sizeof header);
  }
  bool is_full() const { return memory_.size() >= kFull; }

  template <typename Value>
  void put(int attribute, const Value& value) {
    append(attribute, &value, sizeof value);
  }
  void put_text(int attribute, std::string_view text) {
    put_head(attribute, text.size() + 1);
    memory_.add(text.data(), text.size());
    memory_.add("", 1);
    align();
  }
  std::size_t open(int attribute) {
    const std::size_t start = memory_.size();
    put_head(attribute | NLA_F_NESTED, 0);
    return start;
  }
  void close(std::size_t start) {
    reinterpret_cast<nlattr*>(memory_.data() + start)->nla_len = static_cast<std::uint16_t>(memory_.size() - start);
  }
  void payload(const void* data, std::size_t size) {
    memory_.add(data, size);
    align();
  }
  std::string_view done() {
    reinterpret_cast<nlmsghdr*>(memory_.data())->nlmsg_len = static_cast<std::uint32_t>(memory_.size());
    return memory_.view();
  }

 private:
  void put_head(int attribute, std::size_t size) {
    const nlattr head{.nla_len = static_cast<std::uint16_t>(NLA_HDRLEN + size),
                      .nla_type = static_cast<std::uint16_t>(attribute)};
    memory_.add(&head, sizeof head);
  }
  void append(int attribute, const void* data, std::size_t size) {
    put_head(attribute, size);
    payload(data, size);
  }
  void align() {
    constexpr char kZeros[NLMSG_ALIGNTO] = {};
    memory_.add(kZeros, NLMSG_ALIGN(memory_.size()) - memory_.size());
  }

  Memory memory_;
};

}  // namespace verbs::soft::system
