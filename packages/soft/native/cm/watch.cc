// Whether the peers of connections that stand still exist: LAP and APR.
#include <algorithm>
#include <cerrno>
#include <vector>

#include "cm/make_mad.h"
#include "cm/manager.h"
#include "cm/timing.h"
#include "wire/guid.h"

namespace verbs::soft::cm {

void Manager::enter_established(Connection& connection, Nanos now) {
  const Watched peer = watched(connection);
  established_.emplace(peer, connection.id);
  const Watch first{.due = now + kFirstWatch, .answers = wire::is_soft_guid(peer.guid)};
  if (watches_.try_emplace(peer, first).second) next_watch_ = std::min(next_watch_, first.due);
  connection.state = State::kEstablished;
}

void Manager::leave_established(const Connection& connection) {
  established_.erase({watched(connection), connection.id});
}

void Manager::watch_peers(Nanos now) {
  std::vector<Watched> lost;
  next_watch_ = kNever;
  for (auto at = watches_.begin(); at != watches_.end();) {
    auto& [peer, watch] = *at;
    if (watch.due <= now) {
      if (watch.answers && watch.silent >= kSilentLimit) lost.push_back(peer);
      if (!ask(peer, watch, now)) {
        at = watches_.erase(at);
        continue;
      }
    }
    next_watch_ = std::min(next_watch_, watch.due);
    ++at;
  }
  for (const Watched& peer : lost) lose_peer(peer, now);
}

// About each connection in turn.
bool Manager::ask(const Watched& peer, Watch& watch, Nanos now) {
  auto next = established_.upper_bound({peer, watch.last});
  if (next == established_.end() || next->first != peer) next = established_.lower_bound({peer, 0});
  if (next == established_.end() || next->first != peer) return false;
  const Connection& connection = *find(next->second);
  watch.last = connection.id;
  watch.due = now + (watch.silent > 0 ? kSilentInterval : kWatchInterval);
  ++watch.silent;
  send(connection,
       make_mad(new_transaction(connection.id), Attribute::kLap, Notice{connection.id, connection.remote_id, {}}));
  return true;
}

void Manager::lose_peer(const Watched& peer, Nanos now) {
  watches_.erase(peer);
  for (;;) {
    const auto next = established_.lower_bound({peer, 0});
    if (next == established_.end() || next->first != peer) return;
    Connection& connection = *find(next->second);
    verbs_soft_cm_event event = event_of(connection, VERBS_SOFT_CM_DISCONNECTED);
    event.status = ETIMEDOUT;
    report(connection, event);
    wait_out(connection, now);
  }
}

// Alternate paths are refused: the specification has them for InfiniBand's subnets only. The peer of a connection that
// is gone learns it.
void Manager::receive_lap(const Arrival& arrival) {
  const Notice lap = Notice::parse(arrival.mad);
  const Connection* connection = find_for(lap.remote_id, lap.local_id, arrival.path);
  // In kRepSent the RTU was lost.
  if (connection && (connection->state == State::kEstablished || connection->state == State::kRepSent)) {
    send(*connection,
         make_mad(arrival.transaction, Attribute::kApr, Apr{connection->id, connection->remote_id, Apr::kUnsupported}));
  } else if (!connection) {
    respond(arrival.port_num, arrival.path, arrival.transaction, Attribute::kRej,
            Rej{.local_id = lap.remote_id,
                .remote_id = lap.local_id,
                .about = About::kOther,
                .reason = VERBS_SOFT_CM_INVALID_COMM_ID});
  }
}

void Manager::receive_apr(const Arrival& arrival) {
  const Apr apr = Apr::parse(arrival.mad);
  const Connection* connection = find_for(apr.remote_id, apr.local_id, arrival.path);
  if (!connection || connection->state != State::kEstablished) return;
  const auto watch = watches_.find(watched(*connection));
  if (watch == watches_.end()) return;
  watch->second.answers = true;
  watch->second.silent = 0;
}

}  // namespace verbs::soft::cm
