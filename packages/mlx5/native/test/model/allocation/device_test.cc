// Without memory: the device of the model, its queues, and the functions that the model does not have.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../../../../../soft/native/test/abi/support/failing_object.h"
#include "model/abi/unmodelled.h"
#include "test/support/model/queues.h"

using namespace verbs::mlx5::test;
using namespace verbs::soft::test;

TEST_CASE("the device without memory" * doctest::skip(!kAllocationsCanFail)) {
  ibv_device** const list = ibv_get_device_list(nullptr);
  REQUIRE(list);
  without_allocating("mlx5dv_is_supported", [&] { return mlx5dv_is_supported(list[0]); });
  const auto open = [&] { return mlx5dv_open_device(list[0], nullptr); };
  ibv_context* const context = until_it_succeeds("mlx5dv_open_device", open, ibv_close_device);
  ibv_free_device_list(list);
  mlx5dv_context device{};
  until_it_succeeds("mlx5dv_query_device", [&] { return mlx5dv_query_device(context, &device); });
  mlx5dv_port port{};
  until_it_succeeds("_mlx5dv_query_port", [&] { return mlx5dv_query_port(context, 1, &port); });
  mlx5dv_clock_info clock{};
  until_it_succeeds("mlx5dv_get_clock_info", [&] { return mlx5dv_get_clock_info(context, &clock); });
  CHECK(ibv_close_device(context) == 0);
}

TEST_CASE("queues without memory" * doctest::skip(!kAllocationsCanFail)) {
  End end;
  ibv_cq_init_attr_ex cq_attr{};
  cq_attr.cqe = 16;
  check_object(
      "mlx5dv_create_cq", [&] { return ibv_cq_ex_to_cq(mlx5dv_create_cq(end.context, &cq_attr, nullptr)); },
      "ibv_destroy_cq", ibv_destroy_cq);
  ibv_cq* const cq = ibv_cq_ex_to_cq(mlx5dv_create_cq(end.context, &cq_attr, nullptr));
  ibv_qp_init_attr_ex qp_attr{};
  qp_attr.send_cq = qp_attr.recv_cq = cq;
  qp_attr.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  qp_attr.qp_type = IBV_QPT_RAW_PACKET;
  qp_attr.comp_mask = IBV_QP_INIT_ATTR_PD;
  qp_attr.pd = end.pd;
  mlx5dv_qp_init_attr mlx5_attr{};
  mlx5_attr.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS;
  mlx5_attr.create_flags = MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC;
  check_object(
      "mlx5dv_create_qp", [&] { return mlx5dv_create_qp(end.context, &qp_attr, &mlx5_attr); }, "ibv_destroy_qp",
      ibv_destroy_qp);
  CHECK(ibv_destroy_cq(cq) == 0);
  ibv_alloc_dm_attr dm_attr{};
  dm_attr.length = 4096;
  ibv_dm* const dm = ibv_alloc_dm(end.context, &dm_attr);
  REQUIRE(dm);
  const int fd = calls_without_allocating<int>("ibv_dm_export_dmabuf_fd", dm);
  const auto reg = [&] { return mlx5dv_reg_dmabuf_mr(end.pd, 0, 4096, 0, fd, IBV_ACCESS_LOCAL_WRITE, 0); };
  check_object("mlx5dv_reg_dmabuf_mr", reg, "ibv_dereg_mr", ibv_dereg_mr);
  close(fd);
  CHECK(ibv_free_dm(dm) == 0);
  mlx5dv_obj objects{};
  mlx5dv_qp inside{};
  objects.qp = {.in = end.qp, .out = &inside};
  // The NIC's queues are no program's: an error of its own, whatever memory there is.
  until_it_has_memory("mlx5dv_init_obj", [&] { mlx5dv_init_obj(&objects, MLX5DV_OBJ_QP); });
}

TEST_CASE("settings of queue pairs, doorbells and pacing without memory" * doctest::skip(!kAllocationsCanFail)) {
  End end("mlx5_bond");
  std::uint8_t port = 0, active = 0;
  until_it_succeeds("mlx5dv_modify_qp_lag_port", [&] { return mlx5dv_modify_qp_lag_port(end.qp, 2); });
  until_it_succeeds("mlx5dv_query_qp_lag_port", [&] { return mlx5dv_query_qp_lag_port(end.qp, &port, &active); });
  CHECK(port == 2);
  // A queue pair for raw packets has none.
  until_it_has_memory("mlx5dv_modify_qp_udp_sport", [&] { mlx5dv_modify_qp_udp_sport(end.qp, 55555); });
  mlx5dv_devx_uar* const uar = until_it_succeeds(
      "mlx5dv_devx_alloc_uar", [&] { return mlx5dv_devx_alloc_uar(end.context, 0); }, mlx5dv_devx_free_uar);
  without_allocating("mlx5dv_devx_free_uar", [&] { mlx5dv_devx_free_uar(uar); });
  const std::uint8_t settings[4] = {0, 0, 0, 100};
  mlx5dv_pp* const pp = until_it_succeeds(
      "mlx5dv_pp_alloc", [&] { return mlx5dv_pp_alloc(end.context, sizeof settings, settings, 0); }, mlx5dv_pp_free);
  without_allocating("mlx5dv_pp_free", [&] { mlx5dv_pp_free(pp); });
}

TEST_CASE("queues of devx commands and their events without memory" * doctest::skip(!kAllocationsCanFail)) {
  Queues queues;
  ibv_context* const context = queues.end.context;
  std::uint32_t number = 0;
  until_it_succeeds("mlx5dv_devx_query_eqn", [&] { return mlx5dv_devx_query_eqn(context, 0, &number); });
  const auto reg = [&] { return mlx5dv_devx_umem_reg(context, queues.data, 64, IBV_ACCESS_LOCAL_WRITE); };
  mlx5dv_devx_umem* umem = until_it_succeeds("mlx5dv_devx_umem_reg", reg, mlx5dv_devx_umem_dereg);
  without_allocating("mlx5dv_devx_umem_dereg", [&] { return mlx5dv_devx_umem_dereg(umem); });
  mlx5dv_devx_umem_in in{};
  in.addr = queues.data;
  in.size = 64;
  in.pgsz_bitmap = 4096;
  const auto reg_ex = [&] { return mlx5dv_devx_umem_reg_ex(context, &in); };
  mlx5dv_devx_umem_dereg(until_it_succeeds("mlx5dv_devx_umem_reg_ex", reg_ex, mlx5dv_devx_umem_dereg));
  for (const Bytes& command : {queues.cq_command(), queues.qp_command()}) {
    Bytes out(16);
    const auto create = [&] {
      return mlx5dv_devx_obj_create(context, command.data(), command.size(), out.data(), out.size());
    };
    mlx5dv_devx_obj* made = nullptr;
    // The status of a limit, where the NIC has no memory for what is behind.
    for (Turn turn; !made; turn.next()) {
      const MemoryAgain memory_again;
      turn.begin();
      made = create();
      const bool failed = Turn::end();
      if (!made) REQUIRE(failed);
      if (!made) CHECK((errno == ENOMEM || (errno == EREMOTEIO && out[0] == 8)));
    }
    CHECK(mlx5dv_devx_obj_destroy(made) == 0);
  }
  const auto open = [&] {
    return mlx5dv_devx_create_event_channel(context, static_cast<mlx5dv_devx_create_event_channel_flags>(0));
  };
  mlx5dv_devx_event_channel* const channel =
      until_it_succeeds("mlx5dv_devx_create_event_channel", open, mlx5dv_devx_destroy_event_channel);
  std::uint16_t wanted[] = {0x04};
  until_it_succeeds("mlx5dv_devx_subscribe_devx_event",
                    [&] { return mlx5dv_devx_subscribe_devx_event(channel, queues.cq, sizeof wanted, wanted, 1); });
  const int counter = eventfd(0, EFD_CLOEXEC);
  until_it_succeeds("mlx5dv_devx_subscribe_devx_event_fd",
                    [&] { return mlx5dv_devx_subscribe_devx_event_fd(channel, counter, queues.cq, wanted[0]); });
  close(counter);
  // No event comes.
  fcntl(channel->fd, F_SETFL, O_NONBLOCK);
  alignas(8) std::uint8_t event[72];
  without_allocating("mlx5dv_devx_get_event", [&] {
    mlx5dv_devx_get_event(channel, reinterpret_cast<mlx5dv_devx_async_event_hdr*>(event), sizeof event);
  });
  CHECK(errno == EAGAIN);
  mlx5dv_devx_cmd_comp* const answers = until_it_succeeds(
      "mlx5dv_devx_create_cmd_comp", [&] { return mlx5dv_devx_create_cmd_comp(context); },
      mlx5dv_devx_destroy_cmd_comp);
  Bytes query(16);
  put(query, 0, 0x50b, 2);
  put(query, 9, queues.qpn, 3);
  until_it_succeeds("mlx5dv_devx_obj_query_async", [&] {
    return mlx5dv_devx_obj_query_async(queues.qp, query.data(), query.size(), 512, 1, answers);
  });
  alignas(8) std::uint8_t answer[520];
  without_allocating("mlx5dv_devx_get_async_cmd_comp", [&] {
    return mlx5dv_devx_get_async_cmd_comp(answers, reinterpret_cast<mlx5dv_devx_async_cmd_hdr*>(answer), sizeof answer);
  });
  without_allocating("mlx5dv_devx_destroy_cmd_comp", [&] { mlx5dv_devx_destroy_cmd_comp(answers); });
  without_allocating("mlx5dv_devx_destroy_event_channel", [&] { mlx5dv_devx_destroy_event_channel(channel); });
}

TEST_CASE("what the model does not have needs no memory" * doctest::skip(!kAllocationsCanFail)) {
#define NAME(result, name, parameters, arguments) #name,
  for (const char* name : {MLX5DV_UNMODELLED_FUNCTIONS(NAME) MLX5DV_UNMODELLED_DESCRIPTOR_FUNCTIONS(NAME)}) {
    errno = 0;
    calls_without_allocating<int>(name);  // without arguments, as it looks at none
    CHECK(errno == EOPNOTSUPP);
  }
#undef NAME
}
