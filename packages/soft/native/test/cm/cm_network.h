// Two connection managers and the messages between them, in virtual time. Messages are lost by what the test says.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cm/manager.h"
#include "cm/message.h"
#include "wire/gid.h"

namespace verbs::soft::cm {

inline constexpr Nanos kMs = 1'000'000;
inline constexpr std::uint64_t kService = 0x01060000 | 7174;

inline wire::Gid address(unsigned last, bool ipv4 = true) {
  const std::uint8_t bytes[4] = {10, 0, 0, static_cast<std::uint8_t>(last)};
  wire::Gid gid = wire::Gid::from_ipv4(bytes);
  if (!ipv4) gid.bytes[0] = 0xfd, gid.bytes[10] = gid.bytes[11] = 0;
  return gid;
}

inline Data text(const char* bytes) { return {reinterpret_cast<const std::uint8_t*>(bytes), std::strlen(bytes)}; }

class Network;

// A manager and what its owner heard.
class Node final : public Outlet {
 public:
  Node(Network& network, unsigned last, std::uint64_t seed, std::uint64_t guid)
      : manager({.guid = guid, .seed = seed}, *this),
        gid(address(last)),
        gid6(address(last, false)),
        network_(network) {}

  struct Heard {
    verbs_soft_cm_event event;
    std::string data;  // up to its first zero byte
  };

  void send_mad(std::uint8_t port_num, const wire::Path& path, MadView mad) override;
  std::uint8_t path_mtu(std::uint8_t, const wire::Path&) override { return most_mtu; }
  bool hand_over(const wire::Path& path, std::uint64_t service_id, bool, const wire::Gid& to, MadView mad) override {
    if (!hands_over) return false;
    hands_over(path, service_id, to, mad);
    return true;
  }
  static void* callback(void* owner, const verbs_soft_cm_event* event) {
    auto& node = *static_cast<Node*>(owner);
    const auto* bytes = static_cast<const char*>(event->data.bytes);
    node.heard.push_back({*event, bytes ? std::string(bytes, strnlen(bytes, event->data.size)) : std::string()});
    return node.takes_requests ? owner : nullptr;
  }
  Owner owner() { return {callback, this}; }
  std::size_t count(verbs_soft_cm_event_type type) const {
    return static_cast<std::size_t>(
        std::count_if(heard.begin(), heard.end(), [&](const Heard& h) { return h.event.type == type; }));
  }
  const Heard* last(verbs_soft_cm_event_type type) const {
    for (auto at = heard.rbegin(); at != heard.rend(); ++at) {
      if (at->event.type == type) return &*at;
    }
    return nullptr;
  }

  Manager manager;
  wire::Gid gid;
  wire::Gid gid6;
  std::vector<Heard> heard;
  bool takes_requests = true;
  // To the other processes of its address.
  std::function<void(const wire::Path&, std::uint64_t, const wire::Gid&, MadView)> hands_over;
  std::uint8_t most_mtu = IBV_MTU_4096;  // of its way to the other one

 private:
  Network& network_;
};

class Network {
 public:
  struct Frame {
    Node* to;
    wire::Path path;
    Mad mad;
  };

  static constexpr std::uint64_t kForeign = 0x0002c90300001000;
  explicit Network(std::uint64_t guids = wire::guid_base(0))
      : client(*this, 1, 0x10001, guids + 1), server(*this, 2, 0x20001, guids + 2) {}

  static Attribute attribute_of(const Mad& mad) {
    MadHeader header;
    REQUIRE(MadHeader::parse(MadView(mad), &header));
    return header.attribute;
  }

  void take(Node& from, const wire::Path& path, MadView mad) {
    if (successor && &from == &server) return;
    Frame frame{&from == &client ? &serving() : &client, path, {}};
    std::copy(mad.begin(), mad.end(), frame.mad.begin());
    sent.push_back(frame.mad);
    if (drops && drops(frame.mad)) return;
    for (int i = 0; i < copies; ++i) queue_.push_back(frame);
  }

  // Delivers what is on its way, until nothing is.
  void settle() {
    while (!queue_.empty()) {
      const Frame frame = queue_.front();
      queue_.pop_front();
      frame.to->manager.deliver(1, frame.path, frame.mad, now);
    }
  }
  // Lets time pass.
  void run(Nanos duration) {
    const Nanos end = now + duration;
    settle();
    for (;;) {
      const Nanos next = std::min(client.manager.next_deadline(), serving().manager.next_deadline());
      if (next > end) break;
      now = std::max(now, next);
      client.manager.advance(now);
      serving().manager.advance(now);
      settle();
    }
    now = end;
  }

  // -- steps of a test
  // The process of the server is killed, and another one has its address.
  void replace_server(std::uint64_t guid) {
    successor = std::make_unique<Node>(*this, 2, guid << 16, guid);
    queue_.clear();
  }
  Node& serving() { return successor ? *successor : server; }
  void listen(std::uint64_t service = kService, bool datagrams = false) {
    verbs_soft_cm_listen_attr attr{};
    attr.service_id = service;
    attr.datagrams = datagrams;
    REQUIRE(serving().manager.listen(attr, serving().owner(), now, &listener) == 0);
  }
  std::uint32_t connect(std::uint32_t qp_num = 17, bool ipv4 = true, const char* data = "hello") {
    verbs_soft_cm_connect_attr attr{};
    fill(attr, ipv4);
    attr.end = {.qp_num = qp_num,
                .psn = 0x123456,
                .responder_resources = 4,
                .initiator_depth = 3,
                .flow_control = 1,
                .rnr_retry_count = 6,
                .srq = 1};
    attr.retry_count = 5;
    attr.path_mtu = 3;
    attr.ack_timeout = 17;
    attr.transport = transport;
    attr.data = {data, static_cast<std::uint32_t>(std::strlen(data))};
    std::uint32_t id = 0;
    REQUIRE(client.manager.connect(attr, client.owner(), now, &id) == 0);
    return id;
  }
  std::uint32_t lookup() {
    verbs_soft_cm_lookup_attr attr{};
    fill(attr, true);
    attr.data = {"who", 3};
    std::uint32_t id = 0;
    REQUIRE(client.manager.lookup(attr, client.owner(), now, &id) == 0);
    return id;
  }
  std::uint32_t requested() {
    const Node::Heard* request = serving().last(VERBS_SOFT_CM_REQUEST);
    REQUIRE(request);
    return request->event.connection;
  }
  int accept(std::uint32_t id) {
    const verbs_soft_cm_end end{.qp_num = 99,
                                .psn = 0x654321,
                                .responder_resources = 2,
                                .initiator_depth = 1,
                                .flow_control = 1,
                                .rnr_retry_count = 7,
                                .srq = 0};
    return serving().manager.accept(id, end, text("welcome"), now);
  }
  // The numbers of both ends of a connection that stands.
  std::pair<std::uint32_t, std::uint32_t> establish(std::uint32_t qp_num = 17) {
    const std::uint32_t id = connect(qp_num);
    run(kMs);
    const std::uint32_t peer = requested();
    REQUIRE(accept(peer) == 0);
    run(kMs);
    REQUIRE(client.manager.ready(id, {}, now) == 0);
    run(kMs);
    REQUIRE(serving().count(VERBS_SOFT_CM_READY) > 0);
    return {id, peer};
  }

  Nanos now = 1000 * kMs;
  Node client;
  Node server;
  std::unique_ptr<Node> successor;
  std::uint32_t listener = 0;
  std::uint8_t transport = VERBS_SOFT_CM_RC;  // of the client's requests
  std::vector<Mad> sent;
  std::function<bool(const Mad&)> drops;
  int copies = 1;

 private:
  template <typename Attr>
  void fill(Attr& attr, bool ipv4) const {
    const wire::Gid& from = ipv4 ? client.gid : client.gid6;
    const wire::Gid& to = ipv4 ? server.gid : server.gid6;
    attr.path.port_num = 1;
    attr.path.hop_limit = 64;
    std::copy(from.bytes.begin(), from.bytes.end(), attr.path.sgid);
    std::copy(to.bytes.begin(), to.bytes.end(), attr.path.dgid);
    attr.ip.source_port = 40000;
    std::copy(from.bytes.begin(), from.bytes.end(), attr.ip.source);
    std::copy(to.bytes.begin(), to.bytes.end(), attr.ip.destination);
    attr.service_id = kService;
  }

  std::deque<Frame> queue_;
};

inline void Node::send_mad(std::uint8_t, const wire::Path& path, MadView mad) { network_.take(*this, path, mad); }

}  // namespace verbs::soft::cm
