// The NIC under hostile packets, interleaved with everything an application does: posts, polls, state changes, timers,
// destroyed queue pairs and stale keys. At the end the invariants of the world hold (world.h).
#include <algorithm>

#include "fuzz/check.h"
#include "fuzz/packet_recipe.h"
#include "fuzz/world.h"

using namespace verbs::soft;
using namespace verbs::soft::fuzz;

namespace {

constexpr int kMostSteps = 64;

std::size_t index_of(World& world, const Slot& slot) { return static_cast<std::size_t>(&slot - &world.slot(0)); }

// SGEs that mostly lie in a region.
int fill_sges(World& world, Input& input, ibv_sge* sges, bool in_bounds) {
  const int count = static_cast<int>(input.below(4));
  for (int i = 0; i < count; ++i) {
    const std::uint8_t choice = input.byte();
    const std::uint32_t offset = choice * 16u;
    sges[i].addr = World::address(choice) + offset;
    sges[i].length = input.byte() * 8u;
    sges[i].lkey = world.key(input, false);
    if (!in_bounds && input.one_in(16)) sges[i].length = input.take<std::uint32_t>();
  }
  return count;
}

ibv_mw_type type_of(std::size_t window) { return window % 2 == 0 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2; }

// A range that mostly lies in a region, with rights of any kind.
ibv_mw_bind_info bind_info(World& world, Input& input, ibv_mr* region) {
  const std::uint8_t choice = input.byte();
  region->lkey = world.region(choice)->lkey();
  std::uint64_t length = input.byte() * 16u;
  if (input.one_in(16)) length = input.take<std::uint64_t>();
  return {region, World::address(choice) + choice * 8u, length, input.byte()};
}

void bind_window(World& world, Input& input) {
  Slot& slot = world.slot(input.byte());
  if (slot.qp == nullptr || slot.type == IBV_QPT_XRC_RECV) return;
  ibv_mr region = {};
  ibv_mw_bind bind = {};
  bind.wr_id = request_id(index_of(world, slot), false, slot.sent + 1);
  bind.send_flags = input.byte() & 0x1f;
  bind.bind_info = bind_info(world, input, &region);
  if (world.nic().data_path().post_bind(slot.qp, &bind, world.window(input.byte())->rkey() + (input.byte() & 1u)) == 0)
    ++slot.sent;
}

void post_send(World& world, Input& input) {
  Slot& slot = world.slot(input.byte());
  if (slot.qp == nullptr) return;
  static constexpr ibv_wr_opcode opcodes[] = {
      IBV_WR_SEND,          IBV_WR_RDMA_WRITE,          IBV_WR_RDMA_READ,
      IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_ATOMIC_CMP_AND_SWP,
      IBV_WR_LOCAL_INV,     IBV_WR_SEND_WITH_INV,       IBV_WR_ATOMIC_FETCH_AND_ADD,
      IBV_WR_BIND_MW,
  };
  ibv_sge sges[4] = {};
  ibv_send_wr wr = {};
  ibv_send_wr* bad = nullptr;
  wr.wr_id = request_id(index_of(world, slot), false, slot.sent + 1);
  wr.opcode = opcodes[input.below(std::size(opcodes))];
  wr.send_flags = input.byte() & 0x1f;
  wr.num_sge = fill_sges(world, input, sges, (wr.send_flags & IBV_SEND_INLINE) != 0);
  wr.sg_list = sges;
  wr.imm_data = input.byte();
  if (wr.opcode == IBV_WR_LOCAL_INV || wr.opcode == IBV_WR_SEND_WITH_INV) wr.invalidate_rkey = world.key(input, true);
  ibv_mw window = {};
  ibv_mr region = {};
  if (slot.type == IBV_QPT_XRC_SEND) wr.qp_type.xrc.remote_srqn = input.byte();
  if (wr.opcode == IBV_WR_BIND_MW) {
    const std::size_t which = input.byte();
    window = {
        .context = nullptr, .pd = nullptr, .rkey = world.window(which)->rkey(), .handle = 0, .type = type_of(which)};
    wr.bind_mw = {&window, window.rkey ^ (input.byte() & 3u), bind_info(world, input, &region)};
  } else if (slot.type == IBV_QPT_UD) {
    wr.wr.ud = {world.datagram_peer(input.byte()), input.byte(), input.byte()};
  } else if (wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    wr.wr.atomic = {World::address(input.byte()), input.byte(), input.byte(), world.key(input, true)};
  } else {
    wr.wr.rdma = {World::address(input.byte()), world.key(input, true)};
  }
  if (world.nic().data_path().post_send(slot.qp, &wr, &bad) == 0) {
    ++slot.sent;
  } else {
    FUZZ_CHECK(bad == &wr);
  }
}

void post_recv(World& world, Input& input) {
  Slot& slot = world.slot(input.byte());
  if (slot.qp == nullptr) return;
  ibv_sge sges[4] = {};
  ibv_recv_wr wr = {};
  ibv_recv_wr* bad = nullptr;
  wr.wr_id = request_id(index_of(world, slot), true, slot.received + 1);
  wr.num_sge = fill_sges(world, input, sges, false);
  wr.sg_list = sges;
  if (world.nic().data_path().post_recv(slot.qp, &wr, &bad) == 0) {
    ++slot.received;
  } else {
    FUZZ_CHECK(bad == &wr);
  }
}

void post_shared(World& world, Input& input) {
  ibv_sge sges[4] = {};
  ibv_recv_wr wr = {};
  ibv_recv_wr* bad = nullptr;
  const std::size_t index = input.below(kSharedQueues);
  wr.wr_id = world.shared_id(index);
  wr.num_sge = fill_sges(world, input, sges, false);
  wr.sg_list = sges;
  if (world.nic().data_path().post_srq_recv(world.srq(index), &wr, &bad) == 0) {
    world.shared_posted(index);
  } else {
    FUZZ_CHECK(bad == &wr);
  }
}

void modify_shared(World& world, Input& input) {
  const ibv_srq_attr attr = {input.byte(), 0, input.byte()};
  world.nic().srqs().modify(world.srq(input.below(kSharedQueues)), &attr, static_cast<int>(input.below(4)));
}

// Attributes of any kind, right or wrong: the call may return an error, but nothing else may happen.
void modify(World& world, Input& input) {
  Slot& slot = world.slot(input.byte());
  if (slot.qp == nullptr) return;
  ibv_qp_attr attr = {};
  attr.qp_state = static_cast<ibv_qp_state>(input.below(9));
  attr.cur_qp_state = static_cast<ibv_qp_state>(input.below(9));
  attr.path_mtu = static_cast<ibv_mtu>(input.below(7));
  attr.qkey = input.byte();
  attr.rq_psn = input.take<std::uint32_t>();
  attr.sq_psn = input.take<std::uint32_t>();
  attr.dest_qp_num = input.byte() << (input.one_in(8) ? 20 : 0);
  attr.qp_access_flags = input.byte();
  attr.ah_attr = World::peer(slot.ipv6, input.one_in(8));
  attr.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(input.below(3));
  attr.port_num = static_cast<std::uint8_t>(input.below(3));
  attr.max_rd_atomic = input.byte();
  attr.max_dest_rd_atomic = input.byte();
  attr.min_rnr_timer = input.byte() & 0x3f;
  attr.timeout = input.byte() & 0x3f;
  attr.retry_cnt = input.byte() & 0xf;
  attr.rnr_retry = input.byte() & 0xf;
  world.nic().qps().modify(slot.qp, &attr, static_cast<int>(input.take<std::uint32_t>()));
}

void step(World& world, Input& input) {
  switch (input.below(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
      return deliver_made(world, input);
    case 5:
    case 6:
      return deliver_echo(world, input);
    case 7:
      return deliver_raw(world, input);
    case 8:
    case 9:
      return post_send(world, input);
    case 10:
      return input.one_in(3) ? post_shared(world, input) : post_recv(world, input);
    case 11:
      return world.pass(nic::Nanos{1} << input.below(36));
    case 12:
      return world.poll(input.byte());
    case 13:
      return input.one_in(2) ? modify(world, input)
                             : world.set_state(world.slot(input.byte()), static_cast<ibv_qp_state>(input.below(7)));
    case 14:
      return world.make(world.slot(input.byte()), input);
    default:
      // Rarely: the search for the mapping is slow.
      if (input.byte() == 255) return world.register_again();
      if (input.one_in(4)) return modify_shared(world, input);
      if (input.one_in(4)) return bind_window(world, input);
      if (input.one_in(4)) return world.change_membership(world.slot(input.byte()));
      world.cq()->arm(input.one_in(2));
      return world.pass(1000);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  static World world;
  world.begin();
  for (std::size_t i = 0; i < kSlots; ++i) world.make(world.slot(i), input);
  for (int i = 0; i < kMostSteps && !input.empty(); ++i) step(world, input);
  world.end();
  return 0;
}
