#include "kernel/drivers/hbl.h"

#include <sys/mman.h>

#include <cerrno>

#include "kernel/drivers/hbl_abi.h"

namespace verbs::uverbs {
namespace {

constexpr std::uint64_t kPorts = 0b1110;  // 1 to 3
constexpr std::uint32_t kMappedRegisters = 1;
constexpr std::uint32_t kCongestionControl = 2;
constexpr std::uint32_t kEntry = 16;  // bytes of a completion
constexpr std::uint32_t kFewestEntries = 4;
constexpr std::uint32_t kMostEntries = 8192;
constexpr std::uint32_t kCqsOfPort = 14;
constexpr std::uint8_t kTypeCongestion = 1;

std::uint32_t entries_of(std::uint32_t cqe) { return cqe < kFewestEntries ? kFewestEntries : cqe; }

std::size_t count(const Context& context, Type type, std::uint32_t port) {
  std::size_t found = 0;
  for (const auto& [handle, object] : context.objects()) found += object.type == type && object.port == port;
  return found;
}

bool has_congestion_queue(const Context& context, std::uint32_t port) {
  for (const auto& [handle, object] : context.objects()) {
    if (object.type == Type::kCq && object.port == port && object.user_index == kTypeCongestion) return true;
  }
  return false;
}

int refuses_cq(const Context& context, const Object& cq, const hbl::CreateCqIn& given) {
  if (given.flags != 0) return EOPNOTSUPP;  // ibv_create_cq: a queue on every port
  if (given.type > kTypeCongestion) return EINVAL;
  const int error = hbl_port_error(context, given.port_num);
  if (error != 0) return error;
  if (entries_of(cq.numbers[0]) > kMostEntries) return EINVAL;
  if (given.type == kTypeCongestion) {
    if (!hbl_has(context.ports_ready, given.port_num)) return EPERM;
    if (!hbl_has(context.ports_advanced, given.port_num)) return EOPNOTSUPP;
    if (has_congestion_queue(context, given.port_num)) return EBUSY;
  }
  return count(context, Type::kCq, given.port_num) < kCqsOfPort ? 0 : EBUSY;
}

}  // namespace

bool hbl_has(std::uint64_t mask, std::uint32_t port) { return port < 64 && (mask >> port & 1) != 0; }

int hbl_port_error(const Context& context, std::uint32_t port) {
  return hbl_has(context.ports_open, port) ? 0 : EINVAL;
}

std::uint64_t hbl_memory(Context& context, Object& object, const char* name, std::uint64_t size,
                         std::uint64_t element) {
  const std::uint64_t whole = (size + kHblPage - 1) / kHblPage * kHblPage;
  void* memory = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  const std::uint64_t offset = (context.mappings.size() + 1) * (std::uint64_t{1} << 32);
  context.mappings[offset] = {name, address, whole, element, {}};
  object.queues.push_back(context.mappings[offset]);
  return offset;
}

int Hbl::get_context(Context& context, Input request, Output response) {
  if (request.size == 0) return 0;
  const auto given = request.as<hbl::GetContextIn>();
  if ((given.ports_mask & ~kPorts) != 0) return EINVAL;
  context.ports_open = given.ports_mask == 0 ? kPorts : given.ports_mask;
  // A default open sets up all ports.
  if (given.use_dvs == 0) context.ports_ready = context.ports_open;
  response.put(hbl::GetContextOut{context.ports_open, kMappedRegisters | kCongestionControl});
  return 0;
}

int Hbl::refuses(const Context& context, const Object& object, Input request) {
  if (object.type == Type::kCq) return refuses_cq(context, object, request.as<hbl::CreateCqIn>());
  if (object.type != Type::kPd) return 0;
  return count(context, Type::kPd, 0) == 0 ? 0 : ESRCH;
}

void Hbl::created(Context& context, Object& object, std::uint32_t /*handle*/, Input request, Output response) {
  if (object.type == Type::kPd) return response.put(hbl::AllocPdOut{object.number, 0});
  if (object.type != Type::kCq) return;
  const auto given = request.as<hbl::CreateCqIn>();
  object.port = given.port_num;
  object.user_index = given.type;
  const std::uint32_t size = entries_of(object.numbers[0]) * kEntry;
  hbl::CreateCqOut answer{};
  answer.mem_handle = hbl_memory(context, object, "cq", size, kEntry);
  answer.pi_handle = hbl_memory(context, object, "pi", kHblPage, sizeof(std::uint64_t));
  answer.regs_handle = hbl_memory(context, object, "registers", kHblPage, sizeof(std::uint64_t));
  answer.regs_offset = 64;
  answer.cq_num = object.number;
  answer.cq_size = size;
  response.put(answer);
}

void Hbl::query_device(Output /*response*/) {}

void* Hbl::map(Context& context, std::size_t length, off_t offset) {
  const auto found = context.mappings.find(static_cast<std::uint64_t>(offset));
  if (found == context.mappings.end() || length > found->second.size) return MAP_FAILED;
  // A second address of the same memory, so that the program may unmap its own.
  return mremap(reinterpret_cast<void*>(found->second.address), 0, length, MREMAP_MAYMOVE);
}

}  // namespace verbs::uverbs
