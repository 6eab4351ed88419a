// Frames as they come from the network: parsing never reads beyond them, and a parsed frame can be written again.
#include <algorithm>
#include <array>
#include <vector>

#include "fuzz/check.h"
#include "fuzz/input.h"
#include "wire/frame.h"
#include "wire/headers.h"
#include "wire/icrc.h"
#include "wire/opcode.h"

using namespace verbs::soft;
using namespace verbs::soft::fuzz;

namespace {

template <typename Header>
void check_round_trip(std::span<const std::uint8_t> transport, std::size_t offset) {
  FUZZ_CHECK(offset + Header::kSize <= transport.size());
  std::array<std::uint8_t, Header::kSize> first{}, second{};
  Header::parse(transport.data() + offset).emit(first.data());
  Header::parse(first.data()).emit(second.data());
  FUZZ_CHECK(first == second);
}

void check_headers(std::span<const std::uint8_t> transport) {
  check_round_trip<wire::Bth>(transport, 0);
  const wire::Bth bth = wire::Bth::parse(transport.data());
  const wire::OpcodeInfo* info = wire::opcode_info(bth.opcode);
  if (info == nullptr || transport.size() < info->header_size + wire::kIcrcSize) return;
  FUZZ_CHECK(info->name != nullptr && info->header_size >= wire::Bth::kSize);
  FUZZ_CHECK(info->has(wire::kIsRequest) != info->has(wire::kIsResponse));
  if (info->has(wire::kHasDeth)) check_round_trip<wire::Deth>(transport, info->deth);
  if (info->has(wire::kHasReth)) check_round_trip<wire::Reth>(transport, info->reth);
  if (info->has(wire::kHasAeth)) check_round_trip<wire::Aeth>(transport, info->aeth);
  if (info->has(wire::kHasAtomicEth)) check_round_trip<wire::AtomicEth>(transport, info->atomic_eth);
}

// A frame built from the same path and transport part parses to the same values.
void check_rewrite(const wire::FrameView& view) {
  std::vector<std::uint8_t> frame(wire::kMaxNetworkSize + view.transport.size());
  const std::size_t network = wire::write_network(frame.data(), view.path(), view.transport.size());
  FUZZ_CHECK(network == wire::network_size(view.path()));
  frame.resize(network + view.transport.size());
  std::copy(view.transport.begin(), view.transport.end(), frame.begin() + static_cast<std::ptrdiff_t>(network));
  wire::seal_icrc(frame);
  FUZZ_CHECK(wire::check_icrc(frame));
  const auto again = wire::parse_frame(frame);
  FUZZ_CHECK(again && again->path().sgid == view.path().sgid && again->path().dgid == view.path().dgid);
  FUZZ_CHECK(again->path().source_port == view.path().source_port);
  FUZZ_CHECK(again->transport.size() == view.transport.size());
  // Any inverted bit of the payload or of the ICRC itself is found.
  frame.back() ^= 1;
  FUZZ_CHECK(!wire::check_icrc(frame));
}

// Both computations agree, and the sum does not depend on how the bytes are split.
void check_crc(std::span<const std::uint8_t> bytes) {
  const std::size_t cut = bytes.size() / 3;
  const std::uint32_t whole = wire::crc32_update(~0u, bytes.data(), bytes.size());
  FUZZ_CHECK(whole == wire::crc32_update_portable(~0u, bytes.data(), bytes.size()));
  const std::uint32_t first = wire::crc32_update(~0u, bytes.data(), cut);
  FUZZ_CHECK(whole == wire::crc32_update(first, bytes.data() + cut, bytes.size() - cut));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> frame(data, size);
  check_crc(frame);
  const std::size_t network = wire::network_size_of(frame);
  FUZZ_CHECK(network <= size);
  if (network != 0) wire::destination_of(frame);
  const auto view = wire::parse_frame(frame);
  if (!view) return 0;
  FUZZ_CHECK(view->transport.data() + view->transport.size() == data + size);
  wire::check_icrc(frame);
  check_headers(view->transport);
  // IPv4 in the form of IPv6 would be written as IPv4 again; addresses of both kinds in one frame are invalid.
  if (view->path().sgid.is_ipv4() == view->path().dgid.is_ipv4()) check_rewrite(*view);
  return 0;
}
