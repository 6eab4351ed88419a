#include "host/devices/device_report.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "host/publication/reasons.h"

namespace verbs::soft::host {

namespace {

// Of queue pairs, and of each other kind of object. The device's lock is held while their state is copied.
constexpr std::size_t kMostQueuePairs = 4096;
constexpr std::size_t kMostObjects = 4096;

struct QueuePair {
  std::uint32_t number, destination_number, sends, receives, window, in_flight, sent_psn, received_psn;
  ibv_qp_type type;
  ibv_qp_state state;
  wire::Gid destination;
  bool recovering, waiting_rnr;
  std::uint64_t retransmitted, rnr_naks, round_trip;
};

QueuePair copy(const nic::Qp& qp) {
  const nic::RequesterState& req = qp.req;
  return {.number = qp.number,
          .destination_number = qp.attr.dest_qp_num,
          .sends = qp.sq.tail - qp.sq.head,
          .receives = qp.rq.tail - qp.rq.head,
          .window = qp.is_reliable() ? req.congestion_window.packets() : 0,
          .in_flight = qp.is_reliable() ? nic::psn_add(req.max_psn, 0u - req.una_psn) : 0,
          .sent_psn = req.max_psn,
          .received_psn = qp.resp.expected_psn,
          .type = qp.type,
          .state = qp.state,
          .destination = qp.path.dgid,
          .recovering = req.recovering,
          .waiting_rnr = req.waiting_rnr,
          .retransmitted = req.retransmitted_pkts,
          .rnr_naks = req.rcvd_rnr_err,
          .round_trip = static_cast<std::uint64_t>(req.round_trip.smoothed())};
}

void write_queue_pair(Json& json, const QueuePair& qp) {
  json.open('{')
      .key("qpNum")
      .value(qp.number)
      .key("type")
      .value(nic::name_of(qp.type))
      .key("state")
      .value(nic::name_of(qp.state));
  json.key("destQpNum").value(qp.destination_number).key("destGid").value(gid_name(qp.destination));
  json.key("postedSends").value(qp.sends).key("postedReceives").value(qp.receives);
  json.key("window").value(qp.window).key("inFlight").value(qp.in_flight);
  json.key("sentPsn").value(qp.sent_psn).key("receivedPsn").value(qp.received_psn);
  json.key("retransmittedPackets").value(qp.retransmitted).key("rnrNaks").value(qp.rnr_naks);
  json.key("roundTripNs").value(qp.round_trip);
  json.key("recovering").value(qp.recovering).key("waitingRnr").value(qp.waiting_rnr).close('}');
}

// Their members, in the order of the report.
struct PdEntry {
  std::uint32_t number, users;
};
struct CqEntry {
  std::uint32_t number, cqe, users;
};
struct MrEntry {
  std::uint32_t number, lkey, rkey, pd;
  std::uint64_t length;
};
struct SrqEntry {
  std::uint32_t number, type, pd, cq;  // cq 0: those of the queue pairs
};

using CmIdEntry = std::pair<std::uint32_t, verbs_soft_cm_id>;

void write_end(Json& json, const char* address_key, const char* port_key, const sockaddr_storage& end) {
  char text[INET6_ADDRSTRLEN];
  if (end.ss_family == AF_INET) {
    const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(end);
    json.key(address_key).value(inet_ntop(AF_INET, &ipv4.sin_addr, text, sizeof text));
    json.key(port_key).value(std::uint32_t{ntohs(ipv4.sin_port)});
  } else if (end.ss_family == AF_INET6) {
    const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(end);
    json.key(address_key).value(inet_ntop(AF_INET6, &ipv6.sin6_addr, text, sizeof text));
    json.key(port_key).value(std::uint32_t{ntohs(ipv6.sin6_port)});
  }
}

void write_cm_id(Json& json, const CmIdEntry& entry) {
  const auto& [number, id] = entry;
  json.key("cmIdn").value(number).key("state").value(std::uint32_t{id.state});
  json.key("portSpace").value(id.port_space).key("type").value(std::uint32_t{id.qp_type});
  if (id.port_num != 0) json.key("portNum").value(std::uint32_t{id.port_num});
  if (id.qp_num != 0) json.key("qpNum").value(id.qp_num);
  write_end(json, "source", "sourcePort", id.source);
  write_end(json, "destination", "destinationPort", id.destination);
}

template <typename Entry, typename Table, typename Copy>
std::vector<Entry> copies(const Table& table, const Copy& copy_of) {
  std::vector<Entry> all;
  table.for_each([&](const auto& object) {
    if (all.size() < kMostObjects) all.push_back(copy_of(object));
  });
  return all;
}

template <typename Entry, typename Write>
void write_list(Json& json, const char* key, const std::vector<Entry>& entries, const Write& write) {
  json.key(key).open('[');
  for (const Entry& entry : entries) {
    json.open('{');
    write(entry);
    json.close('}');
  }
  json.close(']');
}

}  // namespace

void write_report(Json& json, Device& device) {
  std::vector<QueuePair> qps;
  const std::vector<nic::ReasonEvent> events = copy_reasons(device);
  std::size_t count = 0, pds = 0, cqs = 0, mrs = 0, srqs = 0, contexts = 0, cm_ids = 0;
  struct PortReport {
    std::uint32_t mtu;
    bool up;
    std::string gid;
  };
  std::vector<PortReport> ports;
  {
    DeviceCore& core = device.adapter()->core;
    const std::lock_guard guard(core.lock);
    count = core.nic().qps().count();
    pds = core.nic().pds().count();
    cqs = core.nic().cqs().count();
    mrs = core.nic().mrs().count();
    srqs = core.nic().srqs().count();
    contexts = device.adapter()->events.contexts().size();
    cm_ids = core.engine.identifiers().count();
    core.nic().qps().for_each([&](const nic::Qp& qp) {
      if (qps.size() < kMostQueuePairs) qps.push_back(copy(qp));
    });
    for (int port_num = 1; port_num <= device.config().ports; ++port_num) {
      const nic::Port& port = core.nic().ports()[port_num];
      ports.push_back({nic::mtu_bytes(port.active_mtu()), port.is_up(), gid_name(port.first_gid())});
    }
  }
  json.open('{').key("name").value(device.config().name).key("kind").value(device.config().kind);
  json.key("ports").open('[');
  for (const PortReport& port : ports) {
    json.open('{').key("state").value(port.up ? "ACTIVE" : "DOWN").key("mtu").value(port.mtu);
    json.key("gid").value(port.gid).close('}');
  }
  json.close(']').key("counters").open('{');
  device.report_counters([&](const char* key, std::uint64_t value) { json.key(key).value(value); });
  json.close('}');
  for (const auto& [key, number] :
       {std::pair{"pdCount", pds}, std::pair{"cqCount", cqs}, std::pair{"mrCount", mrs}, std::pair{"srqCount", srqs},
        std::pair{"contextCount", contexts}, std::pair{"cmIdCount", cm_ids}}) {
    json.key(key).value(static_cast<std::uint32_t>(number));
  }
  json.key("queuePairCount").value(static_cast<std::uint32_t>(count)).key("queuePairs").open('[');
  for (const QueuePair& qp : qps) write_queue_pair(json, qp);
  json.close(']').key("reasons").open('[');
  for (const nic::ReasonEvent& event : events) write_reason(json, device.config().name, event);
  json.close(']').close('}');
}

std::vector<nic::ReasonEvent> copy_reasons(Device& device) {
  std::vector<nic::ReasonEvent> events;
  if (!device.is_open()) return events;
  DeviceCore& core = device.adapter()->core;
  const std::lock_guard guard(core.lock);
  core.nic().reasons().for_each([&](const nic::ReasonEvent& event) { events.push_back(event); });
  return events;
}

void write_objects(Json& json, Device& device) {
  std::vector<PdEntry> pds;
  std::vector<CqEntry> cqs;
  std::vector<MrEntry> mrs;
  std::vector<SrqEntry> srqs;
  std::vector<std::uint32_t> contexts;
  std::vector<CmIdEntry> cm_ids;
  {
    DeviceCore& core = device.adapter()->core;
    const std::lock_guard guard(core.lock);
    for (const EventRouter::Context& context : device.adapter()->events.contexts()) contexts.push_back(context.number);
    srqs = copies<SrqEntry>(core.nic().srqs(), [](const nic::Srq& srq) {
      const std::uint32_t type = srq.xrcd != nullptr ? IBV_SRQT_XRC : IBV_SRQT_BASIC;
      return SrqEntry{srq.number, type, srq.pd->handle, srq.cq != nullptr ? srq.cq->handle : 0};
    });
    pds = copies<PdEntry>(core.nic().pds(), [](const nic::Pd& pd) { return PdEntry{pd.handle, pd.users}; });
    cqs = copies<CqEntry>(core.nic().cqs(), [](const nic::Cq& cq) {
      return CqEntry{cq.handle, static_cast<std::uint32_t>(cq.cqe()), cq.users};
    });
    mrs = copies<MrEntry>(core.nic().mrs(), [](const nic::Mr& mr) {
      return MrEntry{mr.key >> 8, mr.lkey(), mr.rkey(), mr.pd->handle, mr.length};
    });
    core.engine.identifiers().for_each([&](std::uint32_t number, const verbs_soft_cm_id& id) {
      if (cm_ids.size() < kMostObjects) cm_ids.emplace_back(number, id);
    });
  }
  json.open('{').key("device").value(device.config().name);
  write_list(json, "pds", pds,
             [&](const PdEntry& pd) { json.key("pdn").value(pd.number).key("users").value(pd.users); });
  write_list(json, "cqs", cqs, [&](const CqEntry& cq) {
    json.key("cqn").value(cq.number).key("cqe").value(cq.cqe).key("users").value(cq.users);
  });
  write_list(json, "mrs", mrs, [&](const MrEntry& mr) {
    json.key("mrn").value(mr.number).key("lkey").value(mr.lkey).key("rkey").value(mr.rkey);
    json.key("pdn").value(mr.pd).key("length").value(mr.length);
  });
  write_list(json, "srqs", srqs, [&](const SrqEntry& srq) {
    json.key("srqn").value(srq.number).key("type").value(srq.type).key("pdn").value(srq.pd);
    if (srq.cq != 0) json.key("cqn").value(srq.cq);
  });
  write_list(json, "cmIds", cm_ids, [&](const CmIdEntry& entry) { write_cm_id(json, entry); });
  write_list(json, "contexts", contexts, [&](std::uint32_t number) { json.key("ctxn").value(number); });
  json.close('}');
}

}  // namespace verbs::soft::host
