#include "model/id/shown.h"

#include "model/device/soft.h"

namespace verbs::rdmacm::model {
namespace {

verbs_soft_cm_id_state state_of(State state) {
  switch (state) {
    case State::kAddressResolved:
      return VERBS_SOFT_CM_ID_ADDR_RESOLVED;
    case State::kRouteResolved:
      return VERBS_SOFT_CM_ID_ROUTE_RESOLVED;
    case State::kListening:
      return VERBS_SOFT_CM_ID_LISTEN;
    case State::kConnecting:
    case State::kRequested:
      return VERBS_SOFT_CM_ID_CONNECT;
    case State::kIdle:
    case State::kBound:
      break;
  }
  return VERBS_SOFT_CM_ID_ADDR_BOUND;
}

void show(const Id& id, verbs_soft_cm_id_state state) {
  verbs_soft_cm_id facts{};
  facts.state = static_cast<std::uint8_t>(state);
  facts.port_num = id.cm.port_num;
  facts.qp_type = static_cast<std::uint8_t>(id.cm.qp_type);
  facts.qp_num = id.qp_num;
  facts.port_space = id.cm.ps;
  facts.source = id.cm.route.addr.src_storage;
  facts.destination = id.cm.route.addr.dst_storage;
  // Without memory for it the program's call goes on all the same.
  if (id.device()) {
    static_cast<void>(soft()->cm->show(id.device()->verbs, &id, &facts));
    return;
  }
  for (const auto& listening : id.listeners) {
    static_cast<void>(soft()->cm->show(listening->device->verbs, listening.get(), &facts));
  }
}

}  // namespace

void show(const Id& id) { show(id, state_of(id.state)); }

void show_disconnected(const Id& id) { show(id, VERBS_SOFT_CM_ID_DISCONNECT); }

void hide(const Id& id) {
  if (id.device()) soft()->cm->hide(id.device()->verbs, &id);
  for (const auto& listening : id.listeners) soft()->cm->hide(listening->device->verbs, listening.get());
}

}  // namespace verbs::rdmacm::model
