// One end of a reliable connection in a process of its own, through the exported functions.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace verbs::soft::test::processes {

// What the other process needs to know.
struct Address {
  std::uint32_t qpn;
  ibv_gid gid;
  std::uint64_t memory;
  std::uint32_t rkey;
};

inline void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

class Endpoint {
 public:
  static constexpr std::size_t kMemory = 1 << 20;
  static constexpr std::uint32_t kRequest = 64 << 10;  // bytes of one request
  static constexpr int kOutstanding = 4;
  static constexpr int kTimeout = 14;  // 67 ms
  static constexpr int kRetries = 7;

  Endpoint();
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  Address address() const;
  void connect(const Address& peer);
  // Takes the memory away under the region.
  void unmap();

  // Writes to the peer's memory, or reads it, always with several requests outstanding, until `done` of them are
  // complete; 0: until one fails. Returns the first status that is not success, else success.
  ibv_wc_status write(int done) { return run(IBV_WR_RDMA_WRITE, done); }
  ibv_wc_status read(int done) { return run(IBV_WR_RDMA_READ, done); }

 private:
  ibv_wc_status run(ibv_wr_opcode opcode, int done);
  void post(ibv_wr_opcode opcode);

  ibv_context* context_ = nullptr;
  ibv_pd* pd_ = nullptr;
  ibv_cq* cq_ = nullptr;
  ibv_qp* qp_ = nullptr;
  ibv_mr* mr_ = nullptr;
  void* memory_ = nullptr;
  ibv_gid gid_{};
  Address peer_{};
  int outstanding_ = 0;
};

}  // namespace verbs::soft::test::processes
