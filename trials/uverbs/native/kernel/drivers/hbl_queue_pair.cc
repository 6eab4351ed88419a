// The states of a queue pair, by the rules of a Gaudi2.
#include <cerrno>

#include "kernel/drivers/hbl.h"
#include "kernel/drivers/hbl_abi.h"

namespace verbs::uverbs {
namespace {

constexpr std::uint32_t kMaskState = 1 << 0;
constexpr std::uint32_t kMaskPort = 1 << 5;
enum State : std::uint32_t { kReset, kInit, kRtr, kRts, kSqd, kSqe, kErr };

constexpr std::uint8_t kWrite = 0x1;
constexpr std::uint8_t kRecvRdv = 0x2;
constexpr std::uint8_t kReadRdv = 0x4;
constexpr std::uint8_t kSendRdv = 0x8;
constexpr std::uint8_t kEndpoint = 0x10;
constexpr std::uint32_t kLeastMtu = 3;  // 1024
constexpr std::uint32_t kMostMtu = 6;   // 8192
constexpr std::uint32_t kFewerLocal = 4;
constexpr std::uint32_t kElement = 32;

bool is_legal(std::uint32_t from, std::uint32_t to) {
  if (to == kReset || to == kErr) return true;
  return (to == kInit && from <= kInit) || (to == kRtr && from == kInit) || (to == kRts && from == kRtr);
}

// The kinds of work that a queue may have together.
bool is_possible(std::uint8_t type) {
  switch (type) {
    case kWrite:
    case kRecvRdv:
    case kReadRdv:
    case kSendRdv:
    case kEndpoint:
      return true;
    default:
      return false;
  }
}

int encap_error(const hbl::ModifyQpIn& given) { return given.encap == 0 && given.encap_num != 0 ? EINVAL : 0; }

int rts_error(const Object& qp, const hbl::ModifyQpIn& given) {
  if (given.priority < 1 || given.priority > 3) return EINVAL;
  const bool rendezvous = (qp.user_index & (kRecvRdv | kReadRdv | kSendRdv)) != 0;
  if ((given.dest_wq_size & (given.dest_wq_size - 1)) != 0) return EINVAL;
  if (rendezvous && given.dest_wq_size < kFewerLocal * qp.numbers[0]) return EINVAL;
  return encap_error(given);
}

std::uint32_t whole_pages(std::uint64_t size) {
  return static_cast<std::uint32_t>((size + kHblPage - 1) / kHblPage * kHblPage);
}

}  // namespace

int Hbl::modifies(Context& context, Object& qp, const QpChange& change, Input request, Output response) {
  if ((change.mask & kMaskState) == 0) return 0;
  if (!is_legal(qp.state, change.state)) return EINVAL;
  const auto given = request.as<hbl::ModifyQpIn>();
  hbl::ModifyQpOut answer{};
  int error = 0;
  switch (change.state) {
    case kInit:
      if ((change.mask & kMaskPort) == 0) return EINVAL;
      error = hbl_port_error(context, change.port);
      if (error == 0 && !is_possible(given.wq_type)) error = EINVAL;
      if (error != 0) return error;
      qp.port = change.port;
      qp.user_index = given.wq_type;
      qp.number = next_qp_++;
      break;
    case kRtr:
      error = change.path_mtu < kLeastMtu || change.path_mtu > kMostMtu ? EINVAL : encap_error(given);
      break;
    case kRts: {
      error = rts_error(qp, given);
      if (error != 0) break;
      const std::uint64_t element = std::uint64_t{kElement} << (given.wq_granularity & 1);
      answer.swq_size = whole_pages(qp.numbers[0] * element);
      answer.rwq_size = whole_pages(qp.numbers[1] * std::uint64_t{kElement});
      answer.swq_handle = hbl_memory(context, qp, "sq", answer.swq_size, element);
      answer.rwq_handle = hbl_memory(context, qp, "rq", answer.rwq_size, kElement);
      break;
    }
    default:
      break;
  }
  // What fails between INIT and RTS puts the hardware's queue pair back.
  if (error != 0) qp.state = kReset;
  if (error != 0) return error;
  answer.qp_num = qp.number;
  response.put(answer);
  return 0;
}

}  // namespace verbs::uverbs
