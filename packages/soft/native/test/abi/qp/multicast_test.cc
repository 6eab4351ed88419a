// Multicast of datagrams, on every link.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/abi/support/device_pair.h"

using namespace verbs::soft::test;

namespace {

constexpr std::uint32_t kQkey = 0x1234;
constexpr std::uint32_t kGroupQpn = 0xffffff;

ibv_gid gid_of(const char* text) {
  ibv_gid gid{};
  REQUIRE(inet_pton(AF_INET6, text, gid.raw) == 1);
  return gid;
}

struct Member : End {
  explicit Member(const char* device) : End(device, IBV_QPT_UD) {
    to_init();
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTR;
    REQUIRE(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
    attr.qp_state = IBV_QPS_RTS;
    REQUIRE(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
  }

  ibv_ah* address(const ibv_gid& to) {
    ibv_ah_attr attr{};
    attr.is_global = 1;
    attr.port_num = 1;
    attr.grh.dgid = to;
    attr.grh.hop_limit = 1;
    return ibv_create_ah(pd, &attr);
  }

  void send_to(const ibv_gid& group, char byte, std::uint32_t length = 100) {
    std::memset(memory.data() + 65536, byte, length);
    ibv_ah* ah = address(group);
    REQUIRE(ah);
    ibv_sge sge;
    ibv_send_wr wr = request(&sge, IBV_WR_SEND, 65536, length), *bad = nullptr;
    wr.wr.ud.ah = ah;
    wr.wr.ud.remote_qpn = kGroupQpn;
    wr.wr.ud.remote_qkey = kQkey;
    REQUIRE(ibv_post_send(qp, &wr, &bad) == 0);
    CHECK(wait_for(2).status == IBV_WC_SUCCESS);
    CHECK(ibv_destroy_ah(ah) == 0);
  }

  // The completion of that request; others are kept.
  ibv_wc wait_for(std::uint64_t wr_id) {
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (kept[i].wr_id != wr_id) continue;
      const ibv_wc wc = kept[i];
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
      return wc;
    }
    for (;;) {
      const ibv_wc wc = poll();
      if (wc.wr_id == wr_id) return wc;
      kept.push_back(wc);
    }
  }

  bool idle() {
    ibv_wc wc;
    return kept.empty() && ibv_poll_cq(cq, 1, &wc) == 0;
  }

  std::vector<ibv_wc> kept;
};

void check_exchange(const ibv_gid& group, const ibv_gid& seen) {
  Member a("mc0"), b("mc1"), c("mc1");
  for (Member* member : {&a, &b, &c}) {
    CHECK(ibv_attach_mcast(member->qp, &group, 0) == 0);
    CHECK(ibv_attach_mcast(member->qp, &group, 0) == 0);  // a second attach has no effect
    REQUIRE(member->post_recv(0, 1024, 10) == 0);
    REQUIRE(member->post_recv(2048, 1024, 11) == 0);
  }
  a.send_to(group, 'm');
  for (Member* member : {&a, &b, &c}) {  // the sender is a member too
    const ibv_wc wc = member->wait_for(10);
    CHECK(wc.status == IBV_WC_SUCCESS);
    CHECK(wc.byte_len == 140);
    CHECK(wc.src_qp == a.qp->qp_num);
    CHECK((wc.wc_flags & IBV_WC_GRH) != 0);
    CHECK(member->memory[40] == 'm');
    CHECK(member->memory[139] == 'm');
    const bool ipv4 = seen.raw[0] != 0xff;
    CHECK(std::memcmp(member->memory.data() + (ipv4 ? 36 : 24), seen.raw + (ipv4 ? 12 : 0), ipv4 ? 4 : 16) == 0);
  }
  // A detached queue pair receives nothing; an attached one receives one copy.
  CHECK(ibv_detach_mcast(b.qp, &group, 0) == 0);
  CHECK(ibv_detach_mcast(b.qp, &group, 0) == EINVAL);
  c.send_to(group, 'n');
  CHECK(a.wait_for(11).status == IBV_WC_SUCCESS);
  CHECK(c.wait_for(11).status == IBV_WC_SUCCESS);
  for (Member* member : {&a, &b, &c}) CHECK(member->idle());

  CHECK(ibv_destroy_qp(a.qp) == EBUSY);
  CHECK(ibv_detach_mcast(a.qp, &group, 0) == 0);
  CHECK(ibv_destroy_qp(a.qp) == 0);
  a.qp = nullptr;
  c.qp = nullptr;  // destroyed with its context, while it is attached
  c.cq = nullptr;
}

}  // namespace

TEST_CASE("every queue pair of a group gets a copy of a message to the group") {
  const ibv_gid ipv4 = gid_of("::ffff:239.1.2.3"), ipv6 = gid_of("ff0e::1:2:3");
  SUBCASE("within the process") {
    configure("mc0,link=process;mc1,link=process");
    check_exchange(ipv4, ipv4);
  }
  SUBCASE("through sockets") {
    configure("mc0,link=udp;mc1,link=udp");
    check_exchange(ipv4, ipv4);
  }
  SUBCASE("by whatever reaches the peer, and not twice") {
    configure("mc0;mc1");
    check_exchange(ipv4, ipv4);
  }
  SUBCASE("from a socket to a member that is also in the process") {
    configure("mc0,link=udp;mc1");
    check_exchange(ipv4, ipv4);
  }
  SUBCASE("a group of IPv6 form between IPv4 addresses") {
    configure("mc0;mc1,link=udp");
    check_exchange(ipv6, gid_of("::ffff:239.2.0.3"));
  }
  SUBCASE("between IPv6 addresses") {
    configure("mc0,link=process,addr=fd00::1;mc1,link=process,addr=fd00::2");
    check_exchange(ipv6, ipv6);
  }
}

TEST_CASE("a group reaches other processes") {
  const ibv_gid group = gid_of("::ffff:239.9.8.7");
  int ready[2], heard[2];
  REQUIRE(pipe(ready) == 0);
  REQUIRE(pipe(heard) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    verbs_soft_configure("mc2");
    Member member("mc2");
    const bool attached = ibv_attach_mcast(member.qp, &group, 0) == 0 && member.post_recv(0, 1024, 10) == 0;
    const bool signalled = write(ready[1], attached ? "y" : "n", 1) == 1;
    const bool good = attached && signalled && member.wait_for(10).status == IBV_WC_SUCCESS && member.memory[40] == 'p';
    _exit(good && write(heard[1], "y", 1) == 1 ? 0 : 1);
  }
  configure("mc0");
  Member a("mc0"), b("mc0");
  CHECK(ibv_attach_mcast(b.qp, &group, 0) == 0);
  REQUIRE(b.post_recv(0, 1024, 10) == 0);
  char answer = 0;
  REQUIRE(read(ready[0], &answer, 1) == 1);
  REQUIRE(answer == 'y');
  a.send_to(group, 'p');
  ibv_wc wc = b.wait_for(10);
  CHECK(wc.status == IBV_WC_SUCCESS);
  CHECK(b.memory[40] == 'p');
  // An answer to the sender leaves from the port's own address.
  ibv_ah_attr back{};
  CHECK(ibv_init_ah_from_wc(b.context.get(), 1, &wc, reinterpret_cast<ibv_grh*>(b.memory.data()), &back) == 0);
  CHECK(back.grh.sgid_index == 0);
  CHECK(std::memcmp(back.grh.dgid.raw, a.gid.raw, 16) == 0);
  int status = 1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  for (const int fd : {ready[0], ready[1], heard[0], heard[1]}) close(fd);
}

TEST_CASE("queue pairs and groups that cannot be attached") {
  configure("mc0,max_mcast_grp=2,max_mcast_qp_attach=2");
  End rc("mc0");
  Member a("mc0"), b("mc0"), c("mc0");
  const ibv_gid group = gid_of("::ffff:239.0.0.1"), second = gid_of("ff02::2"), third = gid_of("::ffff:224.0.0.9");
  ibv_device_attr attr{};
  REQUIRE(ibv_query_device(a.context.get(), &attr) == 0);
  CHECK(attr.max_mcast_grp == 2);
  CHECK(attr.max_mcast_qp_attach == 2);
  CHECK(attr.max_total_mcast_qp_attach == 4);
  CHECK(ibv_attach_mcast(rc.qp, &group, 0) == EINVAL);
  CHECK(ibv_attach_mcast(a.qp, &a.gid, 0) == EINVAL);
  CHECK(ibv_detach_mcast(a.qp, &group, 0) == EINVAL);
  CHECK(ibv_attach_mcast(a.qp, &group, 0) == 0);
  CHECK(ibv_attach_mcast(b.qp, &group, 0) == 0);
  CHECK(ibv_attach_mcast(c.qp, &group, 0) == ENOMEM);
  CHECK(ibv_attach_mcast(c.qp, &second, 0) == 0);
  CHECK(ibv_attach_mcast(c.qp, &third, 0) == ENOMEM);
  // A group is no place for a connection.
  rc.to_init();
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RTR;
  to.path_mtu = IBV_MTU_1024;
  to.dest_qp_num = 17;
  to.ah_attr.is_global = 1;
  to.ah_attr.port_num = 1;
  to.ah_attr.grh.dgid = group;
  CHECK(ibv_modify_qp(rc.qp, &to,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == EINVAL);
  for (Member* member : {&a, &b}) CHECK(ibv_detach_mcast(member->qp, &group, 0) == 0);
  CHECK(ibv_detach_mcast(c.qp, &second, 0) == 0);
}
