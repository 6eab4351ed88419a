// A connection of Comch, as the program knows it: one end, behind which is a peer of the transport.
#pragma once

#include <cstdint>
#include <memory>

#include "doca_comch.h"
#include "model/base/handles.h"
#include "model/channel/peer.h"
#include "model/engine/task.h"

namespace verbs::doca_comm::model::comch {

class Control;

struct Link {
  Control* control = nullptr;  // nullptr when it has ended
  Peer* peer = nullptr;        // likewise
  doca_comch_connection* handle = nullptr;
  doca_data user_data{};
  TaskList waiting;   // submitted; the transport has no room yet
  TaskList sent;      // not acknowledged yet
  bool busy = false;  // has tasks in flight
};

}  // namespace verbs::doca_comm::model::comch

struct doca_comch_connection : verbs::doca_comm::model::Handle<verbs::doca_comm::model::comch::Link> {};

struct doca_comch_task_send : doca_task {
  doca_comch_connection* connection = nullptr;
  const void* message = nullptr;  // the program's, unchanged until the completion
  std::uint32_t length = 0;
  std::uint64_t number = 0;  // of the messages of its connection
};

namespace verbs::doca_comm::model::comch {

doca_comch_connection* publish(const std::shared_ptr<Link>& link);
// nullptr if there is no such connection, or no longer.
Link* find_link(const doca_comch_connection* handle);
void retire(Link& link);

}  // namespace verbs::doca_comm::model::comch
