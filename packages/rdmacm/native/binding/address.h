// Socket addresses on their way between JavaScript and C: { family: 4 | 6, address, port, flowInfo?, scopeId? }.
#pragma once

#include <sys/socket.h>

#include "binding/library.h"

namespace verbs::rdmacm::binding {

class SocketAddress {
 public:
  // Of no value: no address. An address that cannot be parsed is the unspecified one, which TypeScript never gives.
  explicit SocketAddress(Napi::Value value);
  // Null if there is none.
  sockaddr* get() { return length_ == 0 ? nullptr : reinterpret_cast<sockaddr*>(&storage_); }
  socklen_t length() const { return length_; }

 private:
  sockaddr_storage storage_{};
  socklen_t length_ = 0;
};

// Undefined for no address, and for one of another family.
Napi::Value write_address(Napi::Env env, const sockaddr* address);

}  // namespace verbs::rdmacm::binding
