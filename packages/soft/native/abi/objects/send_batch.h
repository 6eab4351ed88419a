// Work requests between ibv_wr_start() and ibv_wr_complete(). They are collected in memory that was allocated with the
// QP, and posted together or not at all.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "abi/objects/locks.h"
#include "host/adapter/adapter.h"

namespace verbs::soft::abi {

// From start() to complete() or abort() the batch belongs to the thread that started it; other threads wait in start().
// Calls by other threads have no effect.
class SendBatch {
 public:
  // `operations` is a mask of ibv_qp_create_send_ops_flags.
  SendBatch(const ibv_qp_cap& cap, std::uint64_t operations);

  void start();
  // Posts the requests. 0, or the errno of the first error; then nothing was posted.
  int complete(host::Adapter* adapter, host::DataPath::Qp qp);
  void abort();

  // A new request; nullptr if the QP was created without `operation` or the batch is full.
  ibv_send_wr* add(std::uint64_t operation, ibv_wr_opcode opcode, const ibv_qp_ex& from);
  // The request that setters change; nullptr if none was added since start().
  ibv_send_wr* last();

  void set_sges(std::span<const ibv_sge> sges);
  void set_inline(std::span<const ibv_data_buf> buffers);
  // Records that a setter does not apply to this QP or request.
  void fail(int error);

 private:
  CriticalSection section_;
  const std::uint64_t operations_;
  const std::uint32_t max_sge_;
  const std::uint32_t max_inline_;
  int error_ = 0;
  std::size_t count_ = 0;
  std::vector<ibv_send_wr> requests_;
  std::vector<ibv_sge> sges_;        // max_sge_ for each request, at least one
  std::vector<std::uint8_t> bytes_;  // max_inline_ for each request
};

}  // namespace verbs::soft::abi
