#include <cerrno>
#include <cstddef>

#include "kernel/drivers/hbl.h"
#include "kernel/drivers/hbl_abi.h"
#include "kernel/ioctl/methods.h"

namespace verbs::uverbs {
namespace {

using hbl::kFirst;
constexpr std::uint16_t kIn = kFirst;
constexpr std::uint16_t kOut = kFirst + 1;
constexpr std::uint16_t kNewHandle = kFirst + 2;

constexpr std::uint32_t kFifos = 30;
constexpr std::uint32_t kFifoBytes = 512;
constexpr std::uint32_t kOddFifo = 128;  // bytes: two FIFOs share a page
constexpr std::uint8_t kModes = 2;
constexpr std::uint8_t kOverUdp = 2;
constexpr std::uint32_t kHeader = 32;
constexpr std::uint32_t kOffsets = 16;
constexpr std::uint32_t kMostOffset = 0x7ffffff;
constexpr std::uint32_t kFewestElements = 16;
constexpr std::uint32_t kMostElements = 32 * 1024;
constexpr std::uint8_t kMemories = 2;  // 1: host, 2: device

// Of a port's array that is used: the first.
int array_error(const hbl::WqArray& array) {
  if (array.max_num_of_wqs == 0 && array.max_num_of_wqes_in_wq == 0) return 0;
  if (array.max_num_of_wqes_in_wq < kFewestElements || array.max_num_of_wqes_in_wq > kMostElements) return EINVAL;
  return array.mem_id >= 1 && array.mem_id <= kMemories ? 0 : EINVAL;
}

int offsets_error(const hbl::SetPortIn& given) {
  if (given.bp_offs == 0) return given.bp_offs_count != 0 ? EINVAL : 0;
  const auto* offsets = reinterpret_cast<const std::uint32_t*>(given.bp_offs);
  for (std::uint32_t i = 0; i < given.bp_offs_count && i < kOffsets; ++i) {
    if (i < 2 && offsets[i] != 0 && given.advanced == 0) return EINVAL;
    if (offsets[i] > kMostOffset) return EINVAL;
  }
  return 0;
}

int set_port_ex(Call& call, const Attributes& attributes) {
  const auto given = attributes.input(kIn).as<hbl::SetPortIn>();
  Context& context = call.context;
  int error = hbl_port_error(context, given.port_num);
  if (error == 0) error = offsets_error(given);
  if (error == 0 && hbl_has(context.ports_ready, given.port_num)) error = EPERM;
  if (error == 0) error = array_error(given.arrays[0]);
  if (error != 0) return error;
  const std::uint64_t bit = std::uint64_t{1} << given.port_num;
  context.ports_ready |= bit;
  if (given.advanced != 0) context.ports_advanced |= bit;
  return 0;
}

int query_port(Call& call, const Attributes& attributes) {
  const auto given = attributes.input(kIn).as<hbl::QueryPortIn>();
  const int error = hbl_port_error(call.context, given.port_num);
  if (error != 0) return error;
  hbl::QueryPortOut answer{};
  answer.max_num_of_qps = 8192;
  answer.num_allocated_qps = 1;  // the Ethernet queue pair
  answer.max_cq_size = 131072;
  answer.max_num_of_cqs = 14;
  answer.max_num_of_usr_fifos = kFifos;
  answer.max_num_of_encaps = 2;  // as the kernel says; the limit is 1
  answer.nic_macro_idx = static_cast<std::uint8_t>((given.port_num - 1) / 2);
  answer.nic_phys_port_idx = static_cast<std::uint8_t>((given.port_num - 1) % 2);
  attributes.output(kOut).put(answer);
  return 0;
}

bool is_taken(const Context& context, Type type, std::uint32_t port, std::uint32_t number) {
  for (const auto& [handle, object] : context.objects()) {
    if (object.type == type && object.port == port && object.number == number) return true;
  }
  return false;
}

int ready_error(const Context& context, std::uint32_t port) {
  const int error = hbl_port_error(context, port);
  if (error != 0) return error;
  return hbl_has(context.ports_ready, port) ? 0 : EPERM;
}

int create_fifo(Call& call, const Attributes& attributes) {
  const auto given = attributes.input(kIn).as<hbl::UsrFifoIn>();
  const int error = ready_error(call.context, given.port_num);
  if (error != 0) return error;
  std::uint32_t number = given.hint;
  if (number == 0) {
    number = 1;
    while (number <= kFifos && is_taken(call.context, Type::kUsrFifo, given.port_num, number)) ++number;
    if (number > kFifos) return EBUSY;
  }
  if (is_taken(call.context, Type::kUsrFifo, given.port_num, number)) return EBUSY;
  if (number > kFifos || given.mode >= kModes) return EINVAL;
  Object& fifo = *call.context.find(Type::kUsrFifo, attributes.value<std::uint32_t>(kNewHandle));
  fifo.port = given.port_num;
  fifo.number = number;
  hbl::UsrFifoOut answer{};
  answer.ci_handle = hbl_memory(call.context, fifo, "ci", kHblPage, sizeof(std::uint64_t));
  answer.regs_handle = hbl_memory(call.context, fifo, "doorbell", kHblPage, sizeof(std::uint64_t));
  answer.usr_fifo_num = number;
  answer.regs_offset = (number - 1) % 2 * kOddFifo;
  answer.size = kFifoBytes;
  answer.bp_thresh = kFifoBytes / 2;
  attributes.output(kOut).put(answer);
  return 0;
}

int create_encap(Call& call, const Attributes& attributes) {
  const auto given = attributes.input(kIn).as<hbl::EncapIn>();
  const int error = ready_error(call.context, given.port_num);
  if (error != 0) return error;
  const std::uint32_t number = (given.port_num - 1) % 2 * 2;
  if (is_taken(call.context, Type::kEncap, given.port_num, number)) return EBUSY;
  if (given.type != kOverUdp || given.header_size != kHeader) return EOPNOTSUPP;
  Object& encap = *call.context.find(Type::kEncap, attributes.value<std::uint32_t>(kNewHandle));
  encap.port = given.port_num;
  encap.number = number;
  attributes.output(kOut).put(hbl::EncapOut{number, 0});
  return 0;
}

Method destroy(std::uint16_t object, const char* name, Type type) {
  return {object, kFirst + 1, name, {{kIn, Kind::kDestroyed, type}}};
}

std::vector<Method> make_methods() {
  return {
      {hbl::kSetPortEx,
       kFirst,
       "SET_PORT_EX",
       {{kIn,
         Kind::kData,
         Type::kNone,
         {{offsetof(hbl::SetPortIn, bp_offs), offsetof(hbl::SetPortIn, bp_offs_count), sizeof(std::uint32_t)}}}},
       set_port_ex},
      {hbl::kQueryPort, kFirst + 1, "HBL_QUERY_PORT", {{kIn}, {kOut, Kind::kOut}}, query_port},
      {hbl::kUsrFifo,
       kFirst,
       "USR_FIFO_CREATE",
       {{kIn}, {kOut, Kind::kOut}, {kNewHandle, Kind::kNew, Type::kUsrFifo}},
       create_fifo},
      destroy(hbl::kUsrFifo, "USR_FIFO_DESTROY", Type::kUsrFifo),
      {hbl::kEncap,
       kFirst,
       "ENCAP_CREATE",
       {{kIn, Kind::kData, Type::kNone, {{offsetof(hbl::EncapIn, header), offsetof(hbl::EncapIn, header_size), 1}}},
        {kOut, Kind::kOut},
        {kNewHandle, Kind::kNew, Type::kEncap}},
       create_encap},
      destroy(hbl::kEncap, "ENCAP_DESTROY", Type::kEncap),
  };
}

}  // namespace

const std::vector<Method>& hbl_methods() {
  static const std::vector<Method> methods = make_methods();
  return methods;
}

}  // namespace verbs::uverbs
