// One connection, or one lookup of a datagram service, and what it waits for.
#pragma once

#include <cstdint>

#include "cm/message.h"
#include "verbs_soft_cm.h"
#include "wire/frame.h"

namespace verbs::soft::cm {

using Nanos = std::int64_t;
inline constexpr Nanos kNever = INT64_MAX;

// As in IBTA volume 1, 12.9.5. A state that the program has to leave has no timer.
enum class State : std::uint8_t {
  kReqSent,
  kReqReceived,  // the program accepts or rejects
  kRepSent,
  kRepReceived,  // the program confirms or rejects
  kEstablished,
  kDreqSent,
  kDreqReceived,  // the program confirms
  kTimewait,      // packets of the connection may still arrive
  kLookupSent,
  kLookupReceived,  // the program answers
  kLookupAnswered,  // the reply is sent again for repeated requests
  kClosed,
};

// Who hears of a connection or a listener.
struct Owner {
  verbs_soft_cm_callback callback = nullptr;
  void* data = nullptr;  // nullptr: nobody any more
};

struct Connection {
  // The message that is sent again: the last request, or the response to a repeated one.
  void keep(const Mad& mad) { sent = mad; }
  bool is_lookup() const {
    return state == State::kLookupSent || state == State::kLookupReceived || state == State::kLookupAnswered;
  }

  std::uint32_t id = 0;
  std::uint32_t remote_id = 0;
  std::uint64_t remote_guid = 0;  // 0 until it is known
  std::uint32_t remote_qpn = 0;
  std::uint64_t transaction = 0;
  std::uint64_t service_id = 0;
  State state = State::kClosed;
  bool active = false;  // this side has requested it
  std::uint8_t port_num = 1;
  std::uint8_t ack_timeout = 0;
  std::uint8_t path_mtu = 0;
  std::uint8_t transport = VERBS_SOFT_CM_RC;
  Owner owner;
  wire::Path path;  // to the peer
  Mad sent{};
  int sends_left = 0;
  Nanos interval = 0;
  Nanos deadline = kNever;
};

}  // namespace verbs::soft::cm
