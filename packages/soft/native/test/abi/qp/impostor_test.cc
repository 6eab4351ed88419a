// Another program on the machine binds the loopback address of a peer, at another port, and sends packets of its
// connection.
#include <arpa/inet.h>
#include <sys/socket.h>

#include "test/abi/support/device_pair.h"
#include "wire/frame.h"
#include "wire/headers.h"
#include "wire/icrc.h"
#include "wire/opcode.h"

using namespace verbs::soft;
using namespace verbs::soft::test;

namespace {

sockaddr_in address(const std::string& text, std::uint16_t port) {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_port = htons(port);
  REQUIRE(inet_pton(AF_INET, text.c_str(), &made.sin_addr) == 1);
  return made;
}

// A socket that sends as `from`, any port, to a device at `to`.
class Impostor {
 public:
  Impostor(const std::string& from, const std::string& to) : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_in own = address(from, 0);
    socklen_t length = sizeof own_;
    const int discover = IP_PMTUDISC_DO;  // identification 0
    REQUIRE(setsockopt(fd_, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof discover) == 0);
    REQUIRE(bind(fd_, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0);
    REQUIRE(getsockname(fd_, reinterpret_cast<sockaddr*>(&own_), &length) == 0);
    to_ = address(to, wire::kRocePort);
  }
  ~Impostor() { close(fd_); }

  // A packet without payload of the connection of `target`, with a right ICRC.
  void send(const ibv_qp* target, wire::Operation operation, std::uint32_t psn) const {
    const std::size_t size = wire::opcode_info(operation)->header_size + wire::kIcrcSize;
    std::vector<std::uint8_t> frame(wire::kMaxNetworkSize + size);
    wire::Path path;
    path.sgid = wire::Gid::from_ipv4(reinterpret_cast<const std::uint8_t*>(&own_.sin_addr));
    path.dgid = wire::Gid::from_ipv4(reinterpret_cast<const std::uint8_t*>(&to_.sin_addr));
    path.source_port = ntohs(own_.sin_port);
    const std::size_t network = wire::write_network(frame.data(), path, size);
    frame.resize(network + size);
    wire::Bth bth;
    bth.opcode = operation;
    bth.dest_qpn = target->qp_num;
    bth.psn = psn;
    bth.emit(&frame[network]);
    wire::seal_icrc(frame);
    REQUIRE(sendto(fd_, &frame[network], size, 0, reinterpret_cast<const sockaddr*>(&to_), sizeof to_) ==
            static_cast<ssize_t>(size));
  }

 private:
  int fd_;
  sockaddr_in own_{}, to_{};
};

}  // namespace

TEST_CASE("who binds a peer's address at another port cannot disturb its connection, unless it is foreign") {
  for (const bool foreign : {false, true}) {
    CAPTURE(foreign);
    const std::string one = local_address(31), two = local_address(32);
    const std::string name = foreign ? "open" : "shut";
    configure(name + "0,link=udp,addr=" + one + (foreign ? ",foreign=" + two : "") + ";" + name +
              "1,link=udp,addr=" + two);
    End a(name + "0"), b(name + "1");
    a.connect(b);
    b.connect(a);
    const Impostor impostor(two, one);
    // The middle of a message that did not begin: an invalid request, which ends the connection.
    impostor.send(a.qp, wire::kSendMiddle, 0);
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    const auto seen = [&] {
      ibv_wc wc;
      ibv_poll_cq(a.cq, 1, &wc);
      const std::uint64_t dropped = counter((name + "0").c_str(), "link_udp_wrong_source_port");
      return foreign ? counter((name + "0").c_str(), "rcvd_pkts") > 0 : dropped == 1;
    };
    while (!seen() && std::chrono::steady_clock::now() < give_up) usleep(100);
    CHECK(seen());
    ibv_qp_attr attr;
    ibv_qp_init_attr init;
    REQUIRE(ibv_query_qp(a.qp, &attr, IBV_QP_STATE, &init) == 0);
    CHECK(attr.qp_state == (foreign ? IBV_QPS_ERR : IBV_QPS_RTS));
    if (foreign) continue;
    REQUIRE(b.post_recv(0, 64) == 0);
    REQUIRE(a.send(0, 64) == 0);
    CHECK(a.poll().status == IBV_WC_SUCCESS);
    CHECK(b.poll().status == IBV_WC_SUCCESS);
  }
}
