#include "nic/core/ways.h"

namespace verbs::soft::nic {

void look_for_ways(Core& core, Qp& qp, std::uint64_t version) {
  const Port& port = core.port_of(qp);
  const bool plain =
      qp.type == IBV_QPT_RC && port.is_plain() && qp.request_tunnel == nullptr && qp.response_tunnel == nullptr;
  qp.neighbour = nullptr;
  qp.way = nullptr;
  qp.neighbourhood = version;
  if (!plain) return;
  qp.way = port.transmitter().message_way(qp.path.sgid, qp.path.dgid, qp.attr.dest_qp_num);
  qp.route = link::route_of(qp.path);
  if (qp.way == nullptr) qp.neighbour = port.transmitter().neighbour(qp.path.sgid, qp.path.dgid);
}

}  // namespace verbs::soft::nic
