// Capture files: frames, sizes and limits of any kind make a file that an independent reader can parse.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstring>
#include <string>
#include <vector>

#include "fuzz/check.h"
#include "fuzz/input.h"
#include "link/capture/pcapng_writer.h"
#include "test/link/support/pcapng_reader.h"

using namespace verbs::soft;
using namespace verbs::soft::fuzz;

namespace {

constexpr const char* kPath = "/a made file";
constexpr int kDescriptor = 1'000'000;  // of no other file: it is beyond the limit of open files

std::vector<std::uint8_t>& made_file() {
  static std::vector<std::uint8_t> bytes;
  return bytes;
}

}  // namespace

// In place of libc's: a file in memory, and no signal is ever pending. Most of the time of an execution went to the
// kernel.
extern "C" int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (std::strcmp(path, kPath) != 0) return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
  FUZZ_CHECK((flags & O_CREAT) != 0);
  made_file().clear();
  return kDescriptor;
}
extern "C" ssize_t write(int fd, const void* bytes, std::size_t size) {
  if (fd != kDescriptor) return syscall(SYS_write, fd, bytes, size);
  const auto* from = static_cast<const std::uint8_t*>(bytes);
  made_file().insert(made_file().end(), from, from + size);
  return static_cast<ssize_t>(size);
}
extern "C" int close(int fd) { return fd == kDescriptor ? 0 : static_cast<int>(syscall(SYS_close, fd)); }
extern "C" int pthread_sigmask(int, const sigset_t*, sigset_t* old) noexcept {
  return old == nullptr ? 0 : sigemptyset(old);
}
extern "C" int sigpending(sigset_t* pending) noexcept { return sigemptyset(pending); }
extern "C" int sigtimedwait(const sigset_t*, siginfo_t*, const timespec*) {
  errno = EAGAIN;
  return -1;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  link::PcapngOptions options;
  options.interface_name = std::string(input.below(20), 'n');
  options.snap_length = input.one_in(2) ? 0 : input.take<std::uint16_t>() % 5000;
  options.max_bytes = input.one_in(2) ? 0 : input.take<std::uint16_t>();
  options.buffer_size = 4096;
  std::unique_ptr<link::PcapngWriter> writer;
  const int error = link::PcapngWriter::open(kPath, options, &writer);
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
  const link::test::Capture capture = link::test::parse_capture(made_file());
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
