// Addresses as text: an accepted address is printed in a form that parses to the same address.
#include <string>

#include "fuzz/check.h"
#include "fuzz/input.h"
#include "host/configuration/configuration.h"
#include "link/udp/ip_socket.h"

using namespace verbs::soft;
using namespace verbs::soft::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const auto gid = host::parse_address(input.text());
  if (!gid) return 0;
  const std::string text = host::format_address(*gid);
  const auto again = host::parse_address(text);
  FUZZ_CHECK(again && *again == *gid);
  sockaddr_storage storage{};
  const socklen_t length = link::to_sockaddr(*gid, 4791, 0, &storage);
  FUZZ_CHECK(length > 0 && length <= sizeof storage);
  FUZZ_CHECK(link::gid_of(storage) == *gid && link::port_of(storage) == 4791);
  return 0;
}
