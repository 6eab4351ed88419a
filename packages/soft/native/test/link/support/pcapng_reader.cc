#include "test/link/support/pcapng_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace verbs::soft::link::test {
namespace {

template <typename T>
T number(const Frame& bytes, std::size_t at) {
  T value{};
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, &bytes[at], sizeof value);
  return value;
}

// Calls `each(code, value)` for the options of a block between two offsets.
template <typename Each>
void options(const Frame& block, std::size_t at, Each each) {
  while (at + 4 <= block.size() - 4) {
    const auto code = number<std::uint16_t>(block, at);
    const auto size = number<std::uint16_t>(block, at + 2);
    if (code == 0 || at + 4 + size > block.size() - 4) return;
    each(code, Frame(block.begin() + static_cast<std::ptrdiff_t>(at + 4),
                     block.begin() + static_cast<std::ptrdiff_t>(at + 4 + size)));
    at += 4 + ((size + 3u) & ~3u);
  }
}

std::string text(const Frame& bytes) { return {bytes.begin(), bytes.end()}; }

void read_block(const Frame& block, Capture* capture) {
  const auto type = number<std::uint32_t>(block, 0);
  if (type == 0x0a0d0d0a) {
    options(block, 24, [&](unsigned code, const Frame& value) {
      if (code == 1) capture->comment = text(value);
    });
  } else if (type == 1) {
    capture->link_type = number<std::uint16_t>(block, 8);
    capture->snap_length = number<std::uint32_t>(block, 12);
    options(block, 16, [&](unsigned code, const Frame& value) {
      if (code == 2) capture->interface_name = text(value);
      if (code == 9) capture->time_resolution = value.at(0);
    });
    capture->interfaces.emplace_back(capture->interface_name, capture->link_type);
  } else if (type == 6) {
    CapturedPacket packet;
    packet.interface = number<std::uint32_t>(block, 8);
    packet.time = std::uint64_t{number<std::uint32_t>(block, 12)} << 32 | number<std::uint32_t>(block, 16);
    const std::size_t kept = number<std::uint32_t>(block, 20);
    packet.original_size = number<std::uint32_t>(block, 24);
    packet.bytes.assign(block.begin() + 28, block.begin() + 28 + static_cast<std::ptrdiff_t>(kept));
    options(block, 28 + ((kept + 3) & ~std::size_t{3}), [&](unsigned code, const Frame& value) {
      if (code == 2) packet.direction = number<std::uint32_t>(value, 0);
    });
    capture->packets.push_back(std::move(packet));
  }
}

}  // namespace

Capture parse_capture(const Frame& bytes) {
  Capture capture;
  std::size_t at = 0;
  while (at + 12 <= bytes.size()) {
    const auto size = number<std::uint32_t>(bytes, at + 4);
    if (size < 12 || size % 4 != 0 || size > bytes.size() - at) break;
    if (number<std::uint32_t>(bytes, at + size - 4) != size) break;
    read_block(
        Frame(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin() + static_cast<std::ptrdiff_t>(at + size)),
        &capture);
    at += size;
  }
  capture.whole = !bytes.empty() && at == bytes.size();
  return capture;
}

Capture read_capture(const std::string& path) {
  Frame bytes;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (struct stat status{}; file >= 0 && fstat(file, &status) == 0) {
    bytes.resize(static_cast<std::size_t>(status.st_size));
    const ssize_t count = read(file, bytes.data(), bytes.size());
    bytes.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  }
  close(file);
  return parse_capture(bytes);
}

}  // namespace verbs::soft::link::test
