#include "abi/objects/send_batch.h"

#include <algorithm>
#include <cerrno>

#include "nic/base/guarded_memory.h"

namespace verbs::soft::abi {

SendBatch::SendBatch(const ibv_qp_cap& cap, std::uint64_t operations)
    : operations_(operations),
      max_sge_(cap.max_send_sge),
      max_inline_(cap.max_inline_data),
      requests_(cap.max_send_wr),
      sges_(static_cast<std::size_t>(cap.max_send_wr) * std::max(max_sge_, 1u)),
      bytes_(static_cast<std::size_t>(cap.max_send_wr) * max_inline_) {}

void SendBatch::start() {
  if (!section_.enter()) return fail(EINVAL);
  error_ = 0;
  count_ = 0;
}

int SendBatch::complete(host::Adapter* adapter, host::DataPath::Qp qp) {
  if (!section_.inside()) return EINVAL;
  int error = adapter ? error_ : EINVAL;
  if (error == 0 && count_ > 0) error = adapter->data_path.post_batch(qp, requests_.data());
  if (error_ != 0 && adapter) adapter->data_path.refuse_batch(qp, error_);
  section_.leave();
  return error;
}

void SendBatch::abort() {
  if (section_.inside()) section_.leave();
}

void SendBatch::fail(int error) {
  if (section_.inside() && error_ == 0) error_ = error;
}

ibv_send_wr* SendBatch::add(std::uint64_t operation, ibv_wr_opcode opcode, const ibv_qp_ex& from) {
  if (!section_.inside() || error_ != 0) return nullptr;
  if ((operations_ & operation) == 0) {
    fail(EOPNOTSUPP);
    return nullptr;
  }
  if (count_ == requests_.size()) {
    fail(ENOMEM);
    return nullptr;
  }
  ibv_send_wr& request = requests_[count_];
  request = {};
  request.wr_id = from.wr_id;
  request.opcode = opcode;
  // The setter decides whether data is inline.
  request.send_flags = from.wr_flags & ~static_cast<unsigned>(IBV_SEND_INLINE);
  request.sg_list = &sges_[count_ * std::max(max_sge_, 1u)];
  if (count_ > 0) requests_[count_ - 1].next = &request;
  ++count_;
  return &request;
}

ibv_send_wr* SendBatch::last() {
  if (!section_.inside() || error_ != 0) return nullptr;
  if (count_ > 0) return &requests_[count_ - 1];
  fail(EINVAL);
  return nullptr;
}

void SendBatch::set_sges(std::span<const ibv_sge> sges) {
  ibv_send_wr* request = last();
  if (!request) return;
  if (sges.size() > max_sge_) return fail(EINVAL);
  std::copy(sges.begin(), sges.end(), request->sg_list);
  request->num_sge = static_cast<int>(sges.size());
}

void SendBatch::set_inline(std::span<const ibv_data_buf> buffers) {
  ibv_send_wr* request = last();
  if (!request) return;
  std::uint8_t* to = bytes_.data() + (count_ - 1) * max_inline_;
  const auto begin = reinterpret_cast<std::uintptr_t>(to);
  std::size_t room = max_inline_;
  for (const ibv_data_buf& buffer : buffers) {
    if (buffer.length > room) return fail(EINVAL);
    if (!nic::copy_argument(to, buffer.addr, buffer.length)) return fail(EFAULT);
    to += buffer.length;
    room -= buffer.length;
  }
  *request->sg_list = {.addr = begin, .length = static_cast<std::uint32_t>(max_inline_ - room), .lkey = 0};
  request->num_sge = 1;
  request->send_flags |= IBV_SEND_INLINE;
}

}  // namespace verbs::soft::abi
