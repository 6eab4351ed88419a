// One call of the write interface: a header, the command's request and the driver's behind it.
#include <rdma/ib_user_verbs.h>

#include <cerrno>
#include <cstddef>

#include "kernel/drivers/driver.h"
#include "kernel/kernel.h"
#include "kernel/write_commands.h"

namespace verbs::uverbs {
namespace {

constexpr std::size_t kWord = 4;
constexpr std::size_t kLongWord = 8;

// Cuts the buffers of a command that was written as it is.
int cut_plain(Call& call, const WriteCommand& command, const ib_uverbs_cmd_hdr& header, const unsigned char* body) {
  const std::size_t request = std::size_t{header.in_words} * kWord - sizeof(header);
  if (request < command.request) return EINVAL;
  call.request = {body, command.request};
  call.driver_request = {body + command.request, request - command.request};
  const std::size_t response = std::size_t{header.out_words} * kWord;
  if (command.response == 0) return 0;
  if (response < command.response) return ENOSPC;
  std::uint64_t address = 0;
  std::memcpy(&address, body, sizeof(address));
  auto* out = reinterpret_cast<unsigned char*>(address);
  call.response = {out, command.response};
  call.driver_response = {out + command.response, response - command.response};
  return 0;
}

int cut_extended(Call& call, const ib_uverbs_cmd_hdr& header, const unsigned char* body) {
  ib_uverbs_ex_cmd_hdr extended{};
  std::memcpy(&extended, body, sizeof(extended));
  const unsigned char* request = body + sizeof(extended);
  call.request = {request, std::size_t{header.in_words} * kLongWord};
  call.driver_request = {request + call.request.size, std::size_t{extended.provider_in_words} * kLongWord};
  auto* out = reinterpret_cast<unsigned char*>(extended.response);
  call.response = {out, std::size_t{header.out_words} * kLongWord};
  call.driver_response = {out + call.response.size, std::size_t{extended.provider_out_words} * kLongWord};
  return 0;
}

// Of the whole that is written, from the header on.
Addresses addresses_of(const WriteCommand* command) {
  if (command == nullptr) return {};
  const bool extended = (command->number & IB_USER_VERBS_CMD_FLAG_EXTENDED) != 0;
  std::size_t start = sizeof(ib_uverbs_cmd_hdr);
  Addresses all;
  if (extended) {
    all.push_back(start);  // of the response
    start += sizeof(ib_uverbs_ex_cmd_hdr);
  }
  for (std::size_t offset : command->addresses) all.push_back(start + offset);
  for (std::size_t offset : driver().addresses(command->makes)) all.push_back(start + command->request + offset);
  return all;
}

// The number of a descriptor depends on what else the program has open: any is written as 0.
void hide_channel(const WriteCommand& command, std::vector<unsigned char>& request) {
  if (command.makes != Type::kCq) return;
  const bool extended = (command.number & IB_USER_VERBS_CMD_FLAG_EXTENDED) != 0;
  const std::size_t offset = sizeof(ib_uverbs_cmd_hdr) +
                             (extended ? sizeof(ib_uverbs_ex_cmd_hdr) + offsetof(ib_uverbs_ex_create_cq, comp_channel)
                                       : offsetof(ib_uverbs_create_cq, comp_channel));
  std::int32_t descriptor = 0;
  if (request.size() < offset + sizeof(descriptor)) return;
  std::memcpy(&descriptor, request.data() + offset, sizeof(descriptor));
  if (descriptor > 0) std::memset(request.data() + offset, 0, sizeof(descriptor));
}

}  // namespace

int Kernel::run_write(Context& context, const unsigned char* data, std::size_t size) {
  ib_uverbs_cmd_hdr header{};
  if (size < sizeof(header)) return EINVAL;
  std::memcpy(&header, data, sizeof(header));
  const WriteCommand* command = find_write_command(header.command);
  const std::string name = command != nullptr ? command->name : "write " + std::to_string(header.command);
  std::vector<unsigned char> shown(data, data + size);
  if (command != nullptr) hide_channel(*command, shown);
  journal_.line("write " + name + " " + bytes_text(context, shown.data(), size, addresses_of(command)));
  int error = command != nullptr ? refusals_.take(name) : EOPNOTSUPP;
  if (error == 0) {
    Call call{context, {}, {}, {}, {}};
    const bool extended = (header.command & IB_USER_VERBS_CMD_FLAG_EXTENDED) != 0;
    const unsigned char* body = data + sizeof(header);
    error = extended ? cut_extended(call, header, body) : cut_plain(call, *command, header, body);
    if (error == 0) error = command->run(call);
  }
  journal_.line("  -> " + std::to_string(error));
  return error;
}

}  // namespace verbs::uverbs
