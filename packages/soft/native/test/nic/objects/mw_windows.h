// Memory windows of one NIC, and the QPs of another that use them.
#pragma once

#include "test/nic/virtual_network.h"

namespace verbs::soft::test {

inline constexpr unsigned kBindable = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;
inline constexpr unsigned kReadWrite = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

// Station b owns the windows; the QPs of station a use them.
struct Windows {
  VirtualNetwork net;
  std::vector<std::uint8_t> near = pattern(8192);
  std::vector<std::uint8_t> far = std::vector<std::uint8_t>(8192);
  nic::Mr* local = net.a.reg(near.data(), near.size());
  nic::Mr* region = net.b.reg(far.data(), far.size(), kBindable);
  std::vector<nic::Qp*> from, to;

  explicit Windows(int qps = 1, ibv_qp_type type = IBV_QPT_RC) {
    for (int i = 0; i < qps; ++i) {
      from.push_back(net.a.create_qp(type));
      to.push_back(net.b.create_qp(type));
      net.connect(from.back(), to.back());
    }
  }

  nic::Mw* alloc(ibv_mw_type type) {
    nic::Mw* mw = nullptr;
    REQUIRE(net.b.nic->mws().alloc(net.b.pd, type, &mw) == 0);
    return mw;
  }

  std::uint64_t at(std::size_t offset) const { return reinterpret_cast<std::uintptr_t>(far.data()) + offset; }

  ibv_wc complete(Station& station) {
    net.run();
    const auto all = station.poll();
    REQUIRE(all.size() == 1);
    return all[0];
  }

  // Type 1: the key that the window has then is `rkey`.
  int bind_1(std::uint32_t rkey, std::size_t offset, std::size_t length, unsigned access) {
    ibv_mr face = {};
    face.lkey = region->lkey();
    ibv_mw_bind bind = {};
    bind.wr_id = 5;
    bind.send_flags = IBV_SEND_SIGNALED;
    bind.bind_info = {&face, length == 0 ? 0 : at(offset), length, access};
    return net.b.nic->data_path().post_bind(to[0], &bind, rkey);
  }

  // Type 2, by a request on QP `qp`. `current` is the key in the program's structure.
  int bind_2(const nic::Mw* mw, std::uint32_t rkey, ibv_mw_bind_info info, std::size_t qp = 0) {
    return bind_2(mw->rkey(), rkey, info, qp);
  }
  int bind_2(std::uint32_t current, std::uint32_t rkey, ibv_mw_bind_info info, std::size_t qp = 0) {
    ibv_mw face = {};
    face.rkey = current;
    face.type = IBV_MW_TYPE_2;
    ibv_send_wr wr = {};
    ibv_send_wr* bad = nullptr;
    wr.wr_id = 6;
    wr.opcode = IBV_WR_BIND_MW;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.bind_mw.mw = &face;
    wr.bind_mw.rkey = rkey;
    wr.bind_mw.bind_info = info;
    return net.b.nic->data_path().post_send(to[qp], &wr, &bad);
  }
  ibv_wc_status bind_2(const nic::Mw* mw, std::uint32_t rkey, const nic::Mr* mr, std::uint64_t address,
                       std::uint64_t length, unsigned access, std::size_t qp = 0) {
    ibv_mr face = {};
    face.lkey = mr->lkey();
    REQUIRE(bind_2(mw, rkey, {&face, address, length, access}, qp) == 0);
    return complete(net.b).status;
  }

  ibv_wc_status invalidate(std::uint32_t rkey, std::size_t qp = 0) {
    ibv_send_wr wr = {};
    ibv_send_wr* bad = nullptr;
    wr.opcode = IBV_WR_LOCAL_INV;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.invalidate_rkey = rkey;
    REQUIRE(net.b.nic->data_path().post_send(to[qp], &wr, &bad) == 0);
    const ibv_wc wc = complete(net.b);
    if (wc.status == IBV_WC_SUCCESS) CHECK(wc.opcode == IBV_WC_LOCAL_INV);
    return wc.status;
  }

  ibv_wc_status access(ibv_wr_opcode opcode, std::uint32_t rkey, std::uint64_t address, std::uint32_t length,
                       std::size_t qp = 0) {
    REQUIRE(
        post_send(
            net.a, from[qp],
            {.opcode = opcode, .sges = {sge_of(near.data(), length, local)}, .remote_addr = address, .rkey = rkey}) ==
        0);
    return complete(net.a).status;
  }
  ibv_wc_status write(std::uint32_t rkey, std::uint64_t address, std::uint32_t length, std::size_t qp = 0) {
    return access(IBV_WR_RDMA_WRITE, rkey, address, length, qp);
  }
};

inline std::uint32_t next_key(std::uint32_t rkey) { return (rkey & ~0xffu) | ((rkey + 1) & 0xff); }

}  // namespace verbs::soft::test
