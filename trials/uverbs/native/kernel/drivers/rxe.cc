#include "kernel/drivers/rxe.h"

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_rxe.h>
#include <sys/mman.h>

namespace verbs::uverbs {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint32_t kCompletion = 64;  // struct ib_uverbs_wc with its padding
constexpr std::uint32_t kCacheLine = 64;
// In an element: the program's number of the request, and the structure of the address handle, which librxe leaves.
constexpr std::size_t kRequestId = 0;
constexpr std::size_t kAddressHandle = 152;

std::uint32_t log2_of(std::uint64_t value) {
  std::uint32_t log = 0;
  while ((std::uint64_t{1} << log) < value) ++log;
  return log;
}

// Makes a queue as the kernel does: elements and their number are rounded up to powers of two.
mminfo make_queue(Context& context, Object& object, const char* name, std::uint32_t count, std::uint64_t element) {
  const std::uint32_t log = log2_of(element < kCacheLine ? kCacheLine : element);
  const std::uint64_t elements = std::uint64_t{1} << log2_of(std::uint64_t{count} + 1);
  const std::uint64_t size = sizeof(rxe_queue_buf) + (elements << log);
  const std::uint64_t whole = (size + kPage - 1) / kPage * kPage;
  void* memory = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* queue = static_cast<rxe_queue_buf*>(memory);
  queue->log2_elem_size = log;
  queue->index_mask = static_cast<std::uint32_t>(elements - 1);
  const std::uint64_t offset = (context.mappings.size() + 1) * (std::uint64_t{1} << 32);
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  context.mappings[offset] = {name, address, size, 0, {}};
  object.queues.push_back(
      {name, address + sizeof(rxe_queue_buf), elements << log, std::uint64_t{1} << log, {kRequestId, kAddressHandle}});
  return {offset, static_cast<std::uint32_t>(size), 0};
}

std::uint64_t send_element(const Object& qp) {
  const std::uint64_t list = std::uint64_t{qp.numbers[2]} * sizeof(rxe_sge);
  return sizeof(rxe_send_wqe) + (list > qp.numbers[4] ? list : qp.numbers[4]);
}

std::uint64_t receive_element(std::uint32_t max_sge) {
  return sizeof(rxe_recv_wqe) + std::uint64_t{max_sge} * sizeof(rxe_sge);
}

}  // namespace

std::uint32_t Rxe::id() const { return RDMA_DRIVER_RXE; }
int Rxe::get_context(Context& /*context*/, Input /*request*/, Output /*response*/) { return 0; }
void Rxe::query_device(Output /*response*/) {}

void Rxe::created(Context& context, Object& object, std::uint32_t /*handle*/, Input /*request*/, Output response) {
  switch (object.type) {
    case Type::kAh:
      return response.put(rxe_create_ah_resp{object.number, 0});
    case Type::kCq:
      return response.put(rxe_create_cq_resp{make_queue(context, object, "cq", object.numbers[0], kCompletion)});
    case Type::kQp: {
      rxe_create_qp_resp answer{};
      if (object.numbers[1] != 0) {
        answer.rq_mi = make_queue(context, object, "rq", object.numbers[1], receive_element(object.numbers[3]));
      }
      answer.sq_mi = make_queue(context, object, "sq", object.numbers[0], send_element(object));
      return response.put(answer);
    }
    case Type::kSrq: {
      rxe_create_srq_resp answer{};
      answer.mi = make_queue(context, object, "rq", object.numbers[0], receive_element(object.numbers[1]));
      answer.srq_num = object.number;
      return response.put(answer);
    }
    default:
      return;
  }
}

void Rxe::resized(Context& context, Object& object, Output response) {
  object.queues.clear();
  response.put(rxe_resize_cq_resp{make_queue(context, object, "cq", object.numbers[0], kCompletion)});
}

Addresses Rxe::addresses(Type type) const { return type == Type::kNewSize ? Addresses{0} : Addresses{}; }

void* Rxe::map(Context& context, std::size_t length, off_t offset) {
  const auto found = context.mappings.find(static_cast<std::uint64_t>(offset));
  if (found == context.mappings.end() || length > found->second.size) return MAP_FAILED;
  // A second address of the same memory, so that the program may unmap its own.
  void* original = reinterpret_cast<void*>(found->second.address);
  return mremap(original, 0, length, MREMAP_MAYMOVE);
}

}  // namespace verbs::uverbs
