// devx commands: bulk counters, TIRs, capability blocks, and errors.
#include <dlfcn.h>
#include <unistd.h>

#include "test/support/model/ends.h"

using namespace verbs::mlx5::test;

namespace {

constexpr int kBadOp = 2, kBadParam = 3, kBadResource = 5, kLimit = 8, kBadOutput = 0x51;

// A command's status in its output, or -errno without one.
int status_of(int error, const Bytes& out) {
  if (error == 0) return 0;
  return error == EREMOTEIO ? out[0] : -error;
}

int create(ibv_context* context, const Bytes& in, std::size_t out_size = 16) {
  Bytes out(out_size);
  errno = 0;
  mlx5dv_devx_obj* object = mlx5dv_devx_obj_create(context, in.data(), in.size(), out.data(), out.size());
  const int error = object ? 0 : errno;
  if (object) CHECK(mlx5dv_devx_obj_destroy(object) == 0);
  return status_of(error, out);
}

Bytes block(ibv_context* context, unsigned type) {
  Bytes in = hex("0100 0000 0000 0000 00000000 00000000"), out(0x1010);
  in[7] = static_cast<std::uint8_t>(type << 1 | 1);
  REQUIRE(mlx5dv_devx_general_cmd(context, in.data(), in.size(), out.data(), out.size()) == 0);
  return Bytes(out.begin() + 16, out.end());
}

}  // namespace

TEST_CASE("a bulk of counters: each flow with the offset that the longer action structure has") {
  End sender, receiver;
  std::uint32_t id = 0;
  mlx5dv_devx_obj* counters = make_counter(receiver.context, &id, 2);
  struct Long {
    mlx5dv_flow_action_attr plain;
    std::uint32_t offset;
  };
  using Create = ibv_flow* (*)(mlx5dv_flow_matcher*, mlx5dv_flow_match_parameters*, std::size_t, void*, std::size_t);
  // This version of the header does not declare it.
  const auto create_flow = reinterpret_cast<Create>(dlsym(RTLD_DEFAULT, "__mlx5dv_create_flow"));
  REQUIRE((create_flow != nullptr) == true);
  Parameters source_mask({{44, {0xff, 0xff, 0xff, 0xff}}});
  const FlowMatcher matcher = make_matcher(receiver.context, source_mask);
  for (std::uint8_t i = 0; i < 4; ++i) {
    Parameters value({{44, {1, 1, 1, static_cast<std::uint8_t>(1 + i)}}});
    Long actions[2]{};
    actions[0].plain = count_with(counters);
    actions[0].plain.type = static_cast<mlx5dv_flow_action_type>(8);
    actions[0].offset = i;
    actions[1].plain = to_qp(receiver.qp);
    REQUIRE(create_flow(matcher.get(), value, 2, actions, sizeof(Long)) != nullptr);
    actions[0].offset = 4;
    CHECK(ERRNO_OF(create_flow(matcher.get(), value, 2, actions, sizeof(Long))) == EINVAL);
    CHECK(ERRNO_OF(create_flow(matcher.get(), value, 2, actions, 20)) == EINVAL);
  }
  for (std::uint8_t i = 0; i < 4; ++i) {
    Bytes frame = example_frame();
    frame[14 + 15] = static_cast<std::uint8_t>(1 + i);
    for (int n = 0; n <= i; ++n) {
      receiver.post_receive();
      sender.send(frame);
      CHECK(receiver.receive() == frame);
    }
  }
  for (std::uint32_t i = 0; i < 4; ++i) CHECK(read_counter(counters, id + i).packets == i + 1);
  // All of them in one query, which clears them.
  Bytes in = hex("093b 0000 0000 0000"), out(16 + 4 * 16);
  in.resize(32);
  in[24] = 0x80;
  in[27] = 4;
  for (int i = 0; i < 4; ++i) in[28 + i] = static_cast<std::uint8_t>(id >> (24 - 8 * i));
  REQUIRE(mlx5dv_devx_obj_query(counters, in.data(), in.size(), out.data(), out.size()) == 0);
  for (int i = 0; i < 4; ++i) CHECK(out[16 + 16 * i + 7] == i + 1);
  CHECK(read_counter(counters, id + 3).packets == 0);
  // More counters than there are, and more than the output has room for.
  in[27] = 5;
  CHECK(status_of(mlx5dv_devx_obj_query(counters, in.data(), in.size(), out.data(), out.size()), out) == kBadParam);
  in[27] = 4;
  CHECK(status_of(mlx5dv_devx_obj_query(counters, in.data(), in.size(), out.data(), 64), out) == kBadOutput);
  // Another object's number, or another command.
  in[28] ^= 0x40;
  CHECK(mlx5dv_devx_obj_query(counters, in.data(), in.size(), out.data(), out.size()) == EINVAL);
  in[28] ^= 0x40;
  in[1] = 0x3a;
  CHECK(mlx5dv_devx_obj_query(counters, in.data(), in.size(), out.data(), out.size()) == EINVAL);
}

TEST_CASE("commands that create no object") {
  End end;
  const Bytes counter = hex("0939 0000 0000 0000 00000000 00000000");
  CHECK(create(end.context, counter) == 0);
  CHECK(create(end.context, counter, 15) == -EINVAL);
  CHECK(create(end.context, Bytes(counter.begin(), counter.begin() + 15)) == -EINVAL);
  CHECK(create(nullptr, counter) == -EINVAL);
  CHECK(create(end.context, hex("0999 0000 0000 0000 00000000 00000000")) == kBadOp);
  Bytes large = counter;
  large[14] = 17;
  CHECK(create(end.context, large) == kLimit);
  large[14] = 16;
  CHECK(create(end.context, large) == 0);
  // A TIR for a queue that does not exist, and one for several queues.
  Bytes tir(32 + 240);
  tir[0] = 9;
  tir[32 + 31] = 1;
  CHECK(create(end.context, tir) == kBadResource);
  tir[32 + 4] = 0x10;
  CHECK(create(end.context, tir) == kBadParam);
  Bytes out(16);
  CHECK(ERRNO_OF(mlx5dv_devx_obj_create(end.context, nullptr, 16, out.data(), 16)) == EINVAL);
  CHECK(ERRNO_OF(mlx5dv_devx_obj_create(end.context, counter.data(), 16, nullptr, 16)) == EINVAL);
  CHECK(mlx5dv_devx_obj_destroy(nullptr) == EINVAL);
  CHECK(mlx5dv_devx_obj_modify(nullptr, counter.data(), 16, out.data(), 16) == EINVAL);
}

TEST_CASE("a TIR has its queue's number, and its query returns its attributes") {
  End end;
  Bytes in(32 + 240), out(16);
  in[0] = 9;
  for (int i = 0; i < 3; ++i) in[32 + 29 + i] = static_cast<std::uint8_t>(end.qp->qp_num >> (16 - 8 * i));
  in[100] = 0x5a;
  mlx5dv_devx_obj* tir = mlx5dv_devx_obj_create(end.context, in.data(), in.size(), out.data(), out.size());
  REQUIRE(tir);
  Bytes query = hex("0903 0000 0000 0000 00"), output(32 + 240);
  query.insert(query.end(), out.begin() + 9, out.begin() + 12);
  query.resize(16);
  CHECK(mlx5dv_devx_obj_query(tir, query.data(), query.size(), output.data(), output.size()) == 0);
  CHECK(std::equal(output.begin() + 32, output.end(), in.begin() + 32));
  // As the destination of a flow.
  End sender;
  Parameters none;
  const FlowMatcher matcher = make_matcher(end.context, none), egress = make_matcher(end.context, none, true);
  mlx5dv_flow_action_attr to_tir = of_type(MLX5DV_FLOW_ACTION_DEST_DEVX);
  to_tir.obj = tir;
  CHECK(ERRNO_OF(make_flow(egress.get(), none, {to_tir})) == EINVAL);
  REQUIRE(make_flow(matcher.get(), none, {to_tir}));
  end.post_receive();
  sender.send(example_frame());
  CHECK(end.receive() == example_frame());
  CHECK(mlx5dv_devx_obj_destroy(tir) == EREMOTEIO);
}

TEST_CASE("the output of a command may be where its input is") {
  End end;
  std::uint32_t id = 0;
  mlx5dv_devx_obj* const counter = make_counter(end.context, &id);
  Bytes bytes = hex("093b 0000 0000 0000");
  bytes.resize(32);
  for (int i = 0; i < 4; ++i) bytes[28 + i] = static_cast<std::uint8_t>(id >> (24 - 8 * i));
  CHECK(mlx5dv_devx_obj_query(counter, bytes.data(), bytes.size(), bytes.data(), bytes.size()) == 0);
  CHECK(bytes == Bytes(32));
  CHECK(mlx5dv_devx_obj_destroy(counter) == 0);
}

TEST_CASE("the capability blocks report the device's capabilities") {
  End end, without("mlx5_no0"), few("mlx5_few");
  const Bytes tables = block(end.context, 7);
  CHECK((tables[4] & 0x80) != 0);   // encap_general_header
  CHECK((tables[5] & 0x1f) == 18);  // log_max_packet_reformat_context
  CHECK((tables[6] << 8 | tables[7]) == 128);
  CHECK((tables[0x40] & 0x01) != 0);  // reformat, on either side
  CHECK((tables[0x100] & 0x01) != 0);
  // ft_support: of tables of frames and of RoCE packets, which copy none.
  for (const std::size_t at : {0x40, 0x80, 0x100, 0x140}) CHECK((tables[at] & 0x80) != 0);
  for (const std::size_t at : {0xc0, 0x180}) CHECK(tables[at] == 0);
  CHECK((tables[0x80] & 0x41) == 0);  // flow_tag, reformat
  CHECK((tables[0x41] & 0x80) != 0);  // decap, on the receive side only
  CHECK((tables[0x101] & 0x80) == 0);
  CHECK((block(without.context, 7)[0x41] & 0x80) == 0);
  CHECK((block(few.context, 7)[5] & 0x1f) == 1);
  const Bytes general = block(end.context, 0);
  CHECK(general[0x1b8 / 8] == 1);                 // ports
  CHECK((general[0x1b6 / 8] & 3) == 1);           // Ethernet
  CHECK((general[0x1a6 / 8] & 2) != 0);           // nic_flow_table
  CHECK(block(end.context, 8) == Bytes(0x1000));  // no e-switch
  Bytes in = hex("0100 0000 0000 00ff 00000000 00000000"), out(0x1010);
  CHECK(status_of(mlx5dv_devx_general_cmd(end.context, in.data(), 16, out.data(), out.size()), out) == kBadParam);
  in[1] = 1;
  CHECK(mlx5dv_devx_general_cmd(end.context, in.data(), 16, out.data(), out.size()) == EINVAL);
  CHECK(mlx5dv_devx_general_cmd(nullptr, in.data(), 16, out.data(), out.size()) == EINVAL);
}

TEST_CASE("the device, its port and its clock") {
  End end;
  mlx5dv_context device{};
  device.comp_mask = ~std::uint64_t{0};
  CHECK(mlx5dv_query_device(end.context, &device) == 0);
  CHECK((device.comp_mask & MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS) != 0);
  CHECK((device.comp_mask & MLX5DV_CONTEXT_MASK_STRIDING_RQ) == 0);
  mlx5dv_port port{};
  CHECK(mlx5dv_query_port(end.context, 1, &port) == 0);
  CHECK(mlx5dv_query_port(end.context, 2, &port) == EINVAL);
  mlx5dv_clock_info clock{};
  CHECK(mlx5dv_get_clock_info(end.context, &clock) == 0);
  CHECK(mlx5dv_ts_to_ns(&clock, clock.last_cycles + 5) == clock.nsec + 5);
  CHECK(mlx5dv_ts_to_ns(&clock, clock.last_cycles - 5) == clock.nsec - 5);
  mlx5dv_qp numbers{};
  numbers.comp_mask = MLX5DV_QP_MASK_RAW_QP_HANDLES;
  numbers.tir_icm_addr = 77;
  mlx5dv_obj object{};
  object.qp = {.in = end.qp, .out = &numbers};
  CHECK(mlx5dv_init_obj(&object, MLX5DV_OBJ_QP) == 0);
  CHECK(numbers.rqn == end.qp->qp_num);
  CHECK(numbers.tir_icm_addr == 77);  // not asked for
  CHECK(mlx5dv_init_obj(&object, MLX5DV_OBJ_CQ) == EOPNOTSUPP);
  // Functions that the model does not implement fail with EOPNOTSUPP.
  CHECK(ERRNO_OF(mlx5dv_alloc_var(end.context, 0)) == EOPNOTSUPP);
  CHECK(mlx5dv_reserved_qpn_alloc(end.context, nullptr) == EOPNOTSUPP);
  errno = 0;
  CHECK(mlx5dv_vfio_get_events_fd(end.context) == -1);
  CHECK(errno == EOPNOTSUPP);
}

TEST_CASE("an object is exported, and imported by contexts of its command file") {
  End sender, receiver;
  std::uint32_t id = 0;
  mlx5dv_devx_obj* const counter = make_counter(receiver.context, &id);
  Bytes data = export_of(counter);
  ibv_context* const same_file = ibv_import_device(receiver.context->cmd_fd);
  REQUIRE(same_file);
  mlx5dv_devx_obj* const imported = mlx5dv_devx_obj_import(same_file, data.data());
  REQUIRE(imported);
  CHECK(imported != counter);
  // A flow of the first context counts; both handles read.
  Parameters none({});
  const FlowMatcher matcher = make_matcher(receiver.context, none);
  ibv_flow* const flow = make_flow(matcher.get(), none, {count_with(counter), to_qp(receiver.qp)});
  REQUIRE(flow);
  receiver.post_receive();
  sender.send(example_frame());
  CHECK(receiver.receive() == example_frame());
  CHECK(read_counter(counter, id).packets == 1);
  CHECK(read_counter(imported, id).packets == 1);
  // An imported handle is of its context: not for flows of the other one.
  CHECK(ERRNO_OF(make_flow(matcher.get(), none, {count_with(imported), to_qp(receiver.qp)})) == EINVAL);
  CHECK(mlx5dv_devx_obj_destroy(imported) == EREMOTEIO);  // the flow uses it
  CHECK(ibv_destroy_flow(flow) == 0);
  SUBCASE("to forget the import leaves the object") {
    mlx5dv_devx_obj_unimport(imported);
    CHECK(mlx5dv_devx_obj_destroy(imported) == EINVAL);
    CHECK(read_counter(counter, id).packets == 1);
    CHECK(mlx5dv_devx_obj_destroy(counter) == 0);
  }
  SUBCASE("what one context destroys is gone for the other") {
    CHECK(mlx5dv_devx_obj_destroy(imported) == 0);
    Bytes in = hex("093b 0000 0000 0000"), out(32);
    in.resize(32);
    CHECK(mlx5dv_devx_obj_query(counter, in.data(), in.size(), out.data(), out.size()) == EINVAL);
    CHECK(mlx5dv_devx_obj_export(counter, data.data()) == EINVAL);
    CHECK(ERRNO_OF(mlx5dv_devx_obj_import(receiver.context, data.data())) == EINVAL);
    mlx5dv_devx_obj_unimport(counter);
  }
  SUBCASE("both contexts close, with the handles") {}
  CHECK(ibv_close_device(same_file) == 0);
}

TEST_CASE("an object outlives the context that created it while its command file is open") {
  ibv_context* later = nullptr;
  mlx5dv_devx_obj* imported = nullptr;
  std::uint32_t id = 0;
  {
    End end;
    Parameters none({});
    mlx5dv_devx_obj* const counter = make_counter(end.context, &id);
    mlx5dv_flow_matcher* const matcher = make_matcher(end.context, none).release();
    REQUIRE(make_flow(matcher, none, {count_with(counter), to_qp(end.qp)}) != nullptr);
    later = ibv_import_device(end.context->cmd_fd);
    REQUIRE(later);
    Bytes data = export_of(counter);
    imported = mlx5dv_devx_obj_import(later, data.data());
    REQUIRE(imported);
  }
  End sender;
  sender.send(example_frame());
  CHECK(read_counter(imported, id).packets == 1);
  CHECK(mlx5dv_devx_obj_destroy(imported) == EREMOTEIO);
  CHECK(ibv_close_device(later) == 0);
}

TEST_CASE("what is no exported object of the command file is refused") {
  End end, other;
  std::uint32_t id = 0;
  mlx5dv_devx_obj* const counter = make_counter(end.context, &id);
  Bytes data = export_of(counter);
  CHECK(ERRNO_OF(mlx5dv_devx_obj_import(other.context, data.data())) == EINVAL);
  Bytes wrong(data.size());
  CHECK(ERRNO_OF(mlx5dv_devx_obj_import(end.context, wrong.data())) == EINVAL);
  CHECK(ERRNO_OF(mlx5dv_devx_obj_import(end.context, nullptr)) == EINVAL);
  CHECK(ERRNO_OF(mlx5dv_devx_obj_import(nullptr, data.data())) == EINVAL);
  CHECK(mlx5dv_devx_obj_export(counter, nullptr) == EINVAL);
  CHECK(mlx5dv_devx_obj_export(nullptr, data.data()) == EINVAL);
  mlx5dv_devx_obj_unimport(nullptr);
}

TEST_CASE("a dma-buf is registered as by the verbs, and there is no data direct") {
  End end;
  ibv_alloc_dm_attr attr{};
  attr.length = 4096;
  ibv_dm* const dm = ibv_alloc_dm(end.context, &attr);
  REQUIRE(dm);
  const auto export_dm = reinterpret_cast<int (*)(ibv_dm*)>(dlsym(RTLD_DEFAULT, "ibv_dm_export_dmabuf_fd"));
  REQUIRE((export_dm != nullptr) == true);
  const int fd = export_dm(dm);
  REQUIRE(fd >= 0);
  ibv_mr* const mr = mlx5dv_reg_dmabuf_mr(end.pd, 0, 4096, 0x10000, fd, IBV_ACCESS_LOCAL_WRITE, 0);
  REQUIRE(mr);
  CHECK(mr->length == 4096);
  CHECK(ibv_dereg_mr(mr) == 0);
  CHECK(ERRNO_OF(mlx5dv_reg_dmabuf_mr(end.pd, 0, 4096, 0, fd, IBV_ACCESS_LOCAL_WRITE, 1)) == EOPNOTSUPP);
  CHECK(ERRNO_OF(mlx5dv_reg_dmabuf_mr(end.pd, 0, 4096, 0, fd, IBV_ACCESS_LOCAL_WRITE, 2)) == EINVAL);
  CHECK(ERRNO_OF(mlx5dv_reg_dmabuf_mr(end.pd, 0, 4096, 0, -1, IBV_ACCESS_LOCAL_WRITE, 0)) != 0);
  close(fd);
  CHECK(ibv_free_dm(dm) == 0);
}
