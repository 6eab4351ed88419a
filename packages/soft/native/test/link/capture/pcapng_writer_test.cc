#include "link/capture/pcapng_writer.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "link/capture/capture_link.h"
#include "link/inproc/inproc_link.h"
#include "test/link/support/pcapng_reader.h"

using namespace verbs::soft::link;
using namespace verbs::soft::link::test;

namespace {

// A folder of its own, gone at the end.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "verbs-capture-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::unique_ptr<PcapngWriter> open_writer(const std::string& path, const PcapngOptions& options) {
  std::unique_ptr<PcapngWriter> writer;
  REQUIRE(PcapngWriter::open(path, options, &writer) == 0);
  return writer;
}

constexpr std::uint64_t kTime = 1'790'000'000'123'456'789;

// While it lives, no file of this process can grow beyond `bytes`: a disk that is full, for a test that is not root.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &old_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit old_{};
};

}  // namespace

TEST_CASE("frames of every length are read back as they were written") {
  const Folder folder;
  const std::string path = folder.file("a.pcapng");
  auto writer = open_writer(path, {.interface_name = "soft0/1"});
  for (std::uint32_t i = 0; i < 9; ++i) {
    writer->write(numbered_frame(i, 32 + i), i % 2 == 0 ? PacketDirection::kInbound : PacketDirection::kOutbound,
                  kTime + i);
  }
  CHECK(writer->error() == 0);
  writer.reset();
  const Capture capture = read_capture(path);
  CHECK(capture.whole);
  CHECK(capture.interface_name == "soft0/1");
  CHECK(capture.link_type == 101);
  CHECK(capture.time_resolution == 9);
  CHECK(capture.comment.size() == 128);
  CHECK(capture.comment.substr(0, 27) == "capture by verbs soft NIC  ");
  REQUIRE(capture.packets.size() == 9);
  for (std::uint32_t i = 0; i < 9; ++i) {
    CHECK(capture.packets[i].bytes == numbered_frame(i, 32 + i));
    CHECK(capture.packets[i].original_size == numbered_frame(i, 32 + i).size());
    CHECK(capture.packets[i].time == kTime + i);
    CHECK(capture.packets[i].direction == (i % 2 == 0 ? 1 : 2));
  }
}

TEST_CASE("Ethernet frames have an interface of their own in the file") {
  const Folder folder;
  const std::string path = folder.file("a.pcapng");
  auto writer = open_writer(path, {.interface_name = "soft0/1", .ethernet_name = "soft0/1 Ethernet"});
  writer->write(numbered_frame(1, 40), PacketDirection::kOutbound, kTime);
  writer->write(numbered_frame(2, 64), PacketDirection::kInbound, kTime, CaptureInterface::kEthernet);
  writer.reset();
  const Capture capture = read_capture(path);
  CHECK(capture.whole);
  REQUIRE(capture.interfaces.size() == 2);
  CHECK(capture.interfaces[0] == std::pair{std::string("soft0/1"), 101u});
  CHECK(capture.interfaces[1] == std::pair{std::string("soft0/1 Ethernet"), 1u});
  REQUIRE(capture.packets.size() == 2);
  CHECK(capture.packets[0].interface == 0);
  CHECK(capture.packets[1].interface == 1);
  CHECK(capture.packets[1].bytes == numbered_frame(2, 64));
}

TEST_CASE("the umask decides who may read the file, and nobody else may write it") {
  const Folder folder;
  for (const mode_t mask : {mode_t{077}, mode_t{0}}) {
    CAPTURE(mask);
    const std::string path = folder.file(mask == 0 ? "open.pcapng" : "own.pcapng");
    const mode_t before = umask(mask);
    open_writer(path, {.interface_name = "soft0/1"});
    umask(before);
    struct stat status{};
    REQUIRE(stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == (mask == 0 ? 0644 : 0600));
  }
}

TEST_CASE("a file belongs to the first who writes it, until that one ends") {
  const Folder folder;
  const std::string path = folder.file("a.pcapng");
  auto first = open_writer(path, {.interface_name = "soft0"});
  std::unique_ptr<PcapngWriter> second;
  CHECK(PcapngWriter::open(path, {.interface_name = "soft1"}, &second) == EBUSY);
  CHECK_FALSE(second);
  first->write(numbered_frame(1), PacketDirection::kInbound, kTime);
  first.reset();
  CHECK(read_capture(path).interface_name == "soft0");
  CHECK(read_capture(path).packets.size() == 1);
  // Nothing is left of it in the next one's.
  REQUIRE(PcapngWriter::open(path, {.interface_name = "soft1"}, &second) == 0);
  second.reset();
  CHECK(read_capture(path).interface_name == "soft1");
  CHECK(read_capture(path).packets.empty());
}

TEST_CASE("the file is readable at once and after each flush") {
  const Folder folder;
  const std::string path = folder.file("a.pcapng");
  auto writer = open_writer(path, {.interface_name = "soft0"});
  CHECK(read_capture(path).whole);
  writer->write(numbered_frame(1), PacketDirection::kInbound, kTime);
  CHECK(read_capture(path).packets.empty());
  writer->flush();
  CHECK(read_capture(path).packets.size() == 1);
  for (std::uint32_t i = 0; i < 200; ++i) writer->write(numbered_frame(i, 4096), PacketDirection::kInbound, kTime);
  const Capture capture = read_capture(path);
  CHECK(capture.whole);
  CHECK(capture.packets.size() > 100);  // a full buffer leaves by itself
}

TEST_CASE("the snap length cuts the bytes and keeps the length") {
  const Folder folder;
  const std::string path = folder.file("a.pcapng");
  auto writer = open_writer(path, {.interface_name = "soft0", .snap_length = 63});
  writer->write(numbered_frame(1, 400), PacketDirection::kInbound, kTime);
  writer->write(numbered_frame(2, 4), PacketDirection::kInbound, kTime);
  writer.reset();
  const Capture capture = read_capture(path);
  CHECK(capture.whole);
  CHECK(capture.snap_length == 63);
  REQUIRE(capture.packets.size() == 2);
  CHECK(capture.packets[0].bytes.size() == 63);
  CHECK(capture.packets[0].original_size == numbered_frame(1, 400).size());
  CHECK(capture.packets[1].bytes == numbered_frame(2, 4));
}

TEST_CASE("at its size limit the capture stops, in order") {
  const Folder folder;
  const std::string path = folder.file("a.pcapng");
  auto writer = open_writer(path, {.interface_name = "soft0", .max_bytes = 2000});
  for (std::uint32_t i = 0; i < 100; ++i) writer->write(numbered_frame(i, 100), PacketDirection::kInbound, kTime);
  CHECK(writer->full());
  CHECK(writer->error() == 0);
  const Capture capture = read_capture(path);
  CHECK(capture.whole);
  CHECK(capture.packets.size() >= 8);
  CHECK(std::filesystem::file_size(path) <= 2000);
  writer.reset();
  CHECK(std::filesystem::file_size(path) <= 2000);
}

TEST_CASE("a file that cannot be opened or begun is an errno") {
  const Folder folder;
  std::unique_ptr<PcapngWriter> writer;
  CHECK(PcapngWriter::open(folder.file("no/such/folder"), {}, &writer) == ENOENT);
  CHECK(PcapngWriter::open(folder.file("."), {}, &writer) == EISDIR);
  CHECK(PcapngWriter::open("/dev/full", {}, &writer) == ENOSPC);
  const FileSizeLimit limit(100);
  CHECK(PcapngWriter::open(folder.file("a.pcapng"), {}, &writer) == EFBIG);
  CHECK(writer == nullptr);
  CHECK_FALSE(std::filesystem::exists(folder.file("a.pcapng")));
}

TEST_CASE("a write error leaves whole blocks, and the file names the error") {
  const Folder folder;
  const std::string path = folder.file("a.pcapng");
  auto writer = open_writer(path, {.interface_name = "soft0"});
  {
    const FileSizeLimit limit(9'999);
    for (std::uint32_t i = 0; i < 100; ++i) writer->write(numbered_frame(i, 1000), PacketDirection::kInbound, kTime);
    writer->flush();
    CHECK(writer->error() == EFBIG);
  }
  sigset_t pending;
  sigpending(&pending);
  CHECK(sigismember(&pending, SIGXFSZ) == 0);
  // The capture has ended, even if there is room again.
  writer->write(numbered_frame(1), PacketDirection::kInbound, kTime);
  writer->flush();
  writer.reset();
  const Capture capture = read_capture(path);
  CHECK(capture.whole);
  CHECK(capture.packets.size() == 8);
  for (std::uint32_t i = 0; i < capture.packets.size(); ++i) {
    CHECK(capture.packets[i].bytes == numbered_frame(i, 1000));
  }
  CHECK(capture.comment.size() == 128);
  CHECK(capture.comment.starts_with("capture incomplete: File too large (EFBIG)  "));
}

TEST_CASE("a reader of the pipe that leaves ends the capture, not the program") {
  const Folder folder;
  const std::string path = folder.file("pipe");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(reader >= 0);
  auto writer = open_writer(path, {.interface_name = "soft0"});
  close(reader);
  writer->write(numbered_frame(1), PacketDirection::kInbound, kTime);
  writer->flush();
  CHECK(writer->error() == EPIPE);
}

TEST_CASE("a capture link writes both directions and changes nothing") {
  const Folder folder;
  const std::string path = folder.file("a.pcapng");
  MemoryLink wire;
  Collector collector;
  {
    CaptureLink link(wire, open_writer(path, {.interface_name = "soft0"}), +[] { return kTime; });
    CHECK(link.fixed_source_port() == 4791);
    send(link, numbered_frame(1));
    link.reserve();  // reserved, never committed: not sent
    link.flush();
    wire.arriving = {numbered_frame(2), numbered_frame(3)};
    CHECK(link.receive(collector, 1) == 1);
    CHECK(link.receive(collector, 9) == 1);
  }
  CHECK(wire.sent == std::vector<Frame>{numbered_frame(1)});
  CHECK(collector.frames == std::vector<Frame>{numbered_frame(2), numbered_frame(3)});
  const Capture capture = read_capture(path);
  REQUIRE(capture.packets.size() == 3);
  CHECK(capture.packets[0].direction == 2);
  CHECK(capture.packets[0].bytes == numbered_frame(1));
  CHECK(capture.packets[1].direction == 1);
  CHECK(capture.packets[2].bytes == numbered_frame(3));
  CHECK(capture.packets[2].time == kTime);
}

TEST_CASE("a frame without its ICRC has it in a capture, at either end") {
  const Folder folder;
  const std::string path = folder.file("a.pcapng");
  InprocLink near(ipv4_gid(127, 0, 0, 1), nullptr, [] {}), far(ipv4_gid(127, 0, 0, 2), nullptr, [] {});
  Collector collector;
  SUBCASE("of the sender") {
    CaptureLink link(near, open_writer(path, {.interface_name = "soft0"}), +[] { return kTime; });
    send_unsealed(link, unsealed(numbered_frame(1)));
  }
  SUBCASE("of the receiver") {
    CaptureLink link(far, open_writer(path, {.interface_name = "soft0"}), +[] { return kTime; });
    send_unsealed(near, unsealed(numbered_frame(1)));
    near.flush();
    CHECK(link.receive(collector, 1) == 1);
    CHECK(collector.frames == std::vector<Frame>{numbered_frame(1)});
  }
  const Capture capture = read_capture(path);
  REQUIRE(capture.packets.size() == 1);
  CHECK(capture.packets[0].bytes == numbered_frame(1));
}
