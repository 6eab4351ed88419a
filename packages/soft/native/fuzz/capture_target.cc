// Capture files: frames, sizes and limits of any kind make a file that an independent reader can parse.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/check.h"
#include "fuzz/input.h"
#include "link/capture/pcapng_writer.h"
#include "test/link/support/pcapng_reader.h"

using namespace verbs::soft;
using namespace verbs::soft::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A file in memory, cut to nothing by each open.
  static const std::string path = "/proc/self/fd/" + std::to_string(memfd_create("capture", MFD_CLOEXEC));
  Input input(data, size);
  link::PcapngOptions options;
  options.interface_name = std::string(input.below(20), 'n');
  options.snap_length = input.one_in(2) ? 0 : input.take<std::uint16_t>() % 5000;
  options.max_bytes = input.one_in(2) ? 0 : input.take<std::uint16_t>();
  options.buffer_size = 4096;
  std::unique_ptr<link::PcapngWriter> writer;
  const int error = link::PcapngWriter::open(path, options, &writer);
  FUZZ_CHECK(error == 0);
  std::vector<std::vector<std::uint8_t>> frames;
  while (!input.empty() && frames.size() < 64) {
    const auto frame = input.bytes(input.take<std::uint16_t>() % 300);
    writer->write(frame, input.one_in(2) ? link::PacketDirection::kInbound : link::PacketDirection::kOutbound,
                  input.take<std::uint64_t>() >> 1);
    frames.emplace_back(frame.begin(), frame.end());
    if (input.one_in(4)) writer->flush();
  }
  const bool full = writer->full();
  writer.reset();
  const link::test::Capture capture = link::test::read_capture(path);
  FUZZ_CHECK(capture.whole && capture.interface_name == options.interface_name);
  FUZZ_CHECK(full ? capture.packets.size() < frames.size() : capture.packets.size() == frames.size());
  for (std::size_t i = 0; i < capture.packets.size(); ++i) {
    const auto& packet = capture.packets[i];
    const std::size_t kept =
        options.snap_length == 0 ? frames[i].size() : std::min<std::size_t>(frames[i].size(), options.snap_length);
    FUZZ_CHECK(packet.original_size == frames[i].size() && packet.bytes.size() == kept);
    FUZZ_CHECK(std::equal(packet.bytes.begin(), packet.bytes.end(), frames[i].begin()));
  }
  return 0;
}
