// A queue pair and its completion queue that are made by devx commands, with their entries in the memory of the test.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "test/support/model/ends.h"

namespace verbs::mlx5::test {

using namespace std::chrono_literals;

constexpr std::size_t kLogReceives = 4, kLogSends = 6, kMessage = 1024;

inline void put(Bytes& in, std::size_t at, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) in[at + i] = static_cast<std::uint8_t>(value >> 8 * (size - 1 - i));
}
inline std::uint32_t get(const std::uint8_t* at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | at[i];
  return value;
}

inline mlx5dv_devx_obj* run_create(ibv_context* context, const Bytes& in, std::uint32_t* id, int* status = nullptr) {
  Bytes out(16);
  mlx5dv_devx_obj* object = mlx5dv_devx_obj_create(context, in.data(), in.size(), out.data(), out.size());
  if (status) *status = out[0];
  *id = get(out.data() + 9, 3);
  return object;
}

// Pages of the program that are registered for queues.
struct Memory {
  Memory(ibv_context* context, std::size_t its_size, std::uint32_t access = IBV_ACCESS_LOCAL_WRITE) : size(its_size) {
    bytes = static_cast<std::uint8_t*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    umem = mlx5dv_devx_umem_reg(context, bytes, size, access);
    REQUIRE((umem != nullptr) == true);
  }
  ~Memory() { munmap(bytes, size); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  std::size_t size;
  std::uint8_t* bytes;
  mlx5dv_devx_umem* umem;
};

// A context with a completion queue and a queue pair, made by commands alone.
class Queues {
 public:
  explicit Queues(std::size_t log_cq = 6)
      : cq_memory(end.context, 64u << log_cq),
        qp_memory(end.context, (16u << kLogReceives) + (64u << kLogSends)),
        records(end.context, 4096),
        log_cq_(log_cq) {
    std::uint32_t eqn = 0;
    REQUIRE(mlx5dv_devx_query_eqn(end.context, 0, &eqn) == 0);
    // As the driver of an adapter does, so that nothing looks like an entry.
    for (std::size_t i = 0; i < std::size_t{1} << log_cq; ++i) cq_memory.bytes[64 * i + 63] = 0xf1;
    Bytes in = cq_command();
    put(in, 16 + 23, eqn, 1);
    cq = run_create(end.context, in, &cqn);
    REQUIRE((cq != nullptr) == true);
    qp = run_create(end.context, qp_command(), &qpn);
    REQUIRE((qp != nullptr) == true);
    mr = ibv_reg_mr(
        end.pd, data, sizeof data,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
  }
  // In the order in which they use each other.
  ~Queues() {
    ibv_dereg_mr(mr);
    CHECK(mlx5dv_devx_umem_dereg(qp_memory.umem) == EREMOTEIO);
    CHECK(mlx5dv_devx_obj_destroy(cq) == EREMOTEIO);
    CHECK(mlx5dv_devx_obj_destroy(qp) == 0);
    CHECK(mlx5dv_devx_obj_destroy(cq) == 0);
    for (Memory* each : {&cq_memory, &qp_memory, &records}) CHECK(mlx5dv_devx_umem_dereg(each->umem) == 0);
  }
  Queues(const Queues&) = delete;
  Queues& operator=(const Queues&) = delete;

  Bytes cq_command() const {
    Bytes in(16 + 64 + 8 + 8 + 176);
    put(in, 0, 0x400, 2);
    put(in, 16, 0x02, 1);  // the doorbell record is in registered memory
    put(in, 20, records.umem->umem_id, 4);
    put(in, 28, log_cq_, 1);
    put(in, 16 + 56, 64, 8);
    put(in, 88, cq_memory.umem->umem_id, 4);
    put(in, 92, 0x80, 1);
    return in;
  }
  Bytes qp_command() const {
    mlx5dv_pd pd{};
    mlx5dv_obj obj{};
    obj.pd = {end.pd, &pd};
    REQUIRE(mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD) == 0);
    Bytes in(272);
    put(in, 0, 0x500, 2);
    put(in, 24 + 5, pd.pdn, 3);
    put(in, 24 + 9, kLogReceives << 3, 1);
    put(in, 24 + 10, kLogSends << 3, 1);
    put(in, 24 + 17, 0xabcdef, 3);
    put(in, 24 + 125, cqn, 3);
    put(in, 24 + 157, cqn, 3);
    put(in, 24 + 208, 0x10, 1);
    put(in, 24 + 228, records.umem->umem_id, 4);
    put(in, 264, qp_memory.umem->umem_id, 4);
    put(in, 268, 0x80, 1);
    return in;
  }

  int modify(std::uint16_t opcode, Bytes in) {
    in.resize(24 + 232 + 16);
    put(in, 0, opcode, 2);
    put(in, 9, qpn, 3);
    Bytes out(16);
    const int error = mlx5dv_devx_obj_modify(qp, in.data(), in.size(), out.data(), out.size());
    return error == EREMOTEIO ? out[0] : -error;
  }
  void connect(const Queues& peer) {
    Bytes in(272);
    put(in, 24 + 146, 0xe0, 1);
    put(in, 24 + 24 + 37, 1, 1);
    REQUIRE(modify(0x502, in) == 0);
    in = Bytes(272);
    put(in, 24 + 8, 3 << 5, 1);
    put(in, 24 + 21, peer.qpn, 3);
    ibv_gid gid{};
    REQUIRE(ibv_query_gid(peer.end.context, 1, 0, &gid) == 0);
    std::copy_n(gid.raw, 16, in.begin() + 24 + 24 + 16);
    put(in, 24 + 24 + 11, 64, 1);
    put(in, 24 + 148, 12, 1);
    put(in, 24 + 149, 100, 3);
    REQUIRE(modify(0x503, in) == 0);
    in = Bytes(272);
    put(in, 24 + 24 + 8, 14 << 3, 1);
    put(in, 24 + 113, 7, 1);
    put(in, 24 + 114, 7 << 5, 1);
    put(in, 24 + 121, 100, 3);
    REQUIRE(modify(0x504, in) == 0);
  }

  void post_receive(std::uint8_t* to, std::uint32_t size) {
    Bytes segment(16);
    put(segment, 0, size, 4);
    put(segment, 4, mr->lkey, 4);
    put(segment, 8, reinterpret_cast<std::uintptr_t>(to), 8);
    std::copy(segment.begin(), segment.end(), qp_memory.bytes + 16 * (received_ & ((1u << kLogReceives) - 1)));
    ring(0, ++received_);
  }
  // `middle` is what stands between the control segment and the data segment.
  void post_send(std::uint8_t opcode, const Bytes& middle, std::uint8_t* from, std::uint32_t size,
                 std::uint32_t immediate = 0) {
    Bytes wqe(16);
    put(wqe, 0, sent_ << 8 | opcode, 4);
    put(wqe, 4, qpn << 8 | (2 + middle.size() / 16), 4);
    wqe[11] = 0x08;
    put(wqe, 12, immediate, 4);
    wqe.insert(wqe.end(), middle.begin(), middle.end());
    Bytes segment(16);
    put(segment, 0, size, 4);
    put(segment, 4, mr->lkey, 4);
    put(segment, 8, reinterpret_cast<std::uintptr_t>(from), 8);
    wqe.insert(wqe.end(), segment.begin(), segment.end());
    write(wqe);
  }
  void write(const Bytes& wqe) {
    std::uint8_t* queue = qp_memory.bytes + (16u << kLogReceives);
    for (std::size_t i = 0; i < wqe.size(); ++i) {
      queue[(64 * std::size_t{sent_} + i) % (std::size_t{64} << kLogSends)] = wqe[i];
    }
    sent_ += static_cast<std::uint32_t>((wqe.size() + 63) / 64);
    ring(4, sent_);
  }
  void ring(std::size_t at, std::uint32_t counter) {
    Bytes record(4);
    put(record, 0, counter & 0xffff, 4);
    std::copy(record.begin(), record.end(), records.bytes + at);
  }

  // The next entry; empty if none comes.
  Bytes poll(std::chrono::milliseconds patience = 20s) {
    const std::size_t count = std::size_t{1} << log_cq_;
    const std::uint8_t* entry = cq_memory.bytes + 64 * (consumed_ & (count - 1));
    const auto owner = static_cast<std::uint8_t>(consumed_ >> log_cq_ & 1);
    const volatile std::uint8_t* last = entry + 63;
    for (const auto deadline = std::chrono::steady_clock::now() + patience;
         *last >> 4 == 0xf || (*last & 1) != owner;) {
      if (std::chrono::steady_clock::now() > deadline) return {};
      std::this_thread::sleep_for(100us);
    }
    Bytes copy(entry, entry + 64);
    Bytes record(4);
    put(record, 0, ++consumed_, 4);
    std::copy(record.begin(), record.end(), records.bytes + 64);
    return copy;
  }

  End end;
  Memory cq_memory, qp_memory, records;
  mlx5dv_devx_obj *cq = nullptr, *qp = nullptr;
  std::uint32_t cqn = 0, qpn = 0;
  ibv_mr* mr = nullptr;
  std::uint8_t data[2 * kMessage] = {};

 private:
  std::size_t log_cq_;
  std::uint32_t sent_ = 0, received_ = 0, consumed_ = 0;
};

inline Bytes remote(const std::uint8_t* address, std::uint32_t rkey) {
  Bytes segment(16);
  put(segment, 0, reinterpret_cast<std::uintptr_t>(address), 8);
  put(segment, 8, rkey, 4);
  return segment;
}

}  // namespace verbs::mlx5::test
