// A capture file in the pcapng format: raw IP packets and Ethernet frames with nanosecond time stamps. Writes are
// buffered; a flush ends with a whole block, so that the file can be read at any time. Only the file of a process that
// is killed during a flush can end within a block: the kernel stops such a write between two pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace verbs::soft::link {

struct PcapngOptions {
  std::string interface_name;                         // of the raw IP packets
  std::string ethernet_name = {};                     // of the Ethernet frames, if there are any
  std::uint64_t max_bytes = 0;                        // the file ends before it grows beyond; 0: no limit
  std::uint32_t snap_length = 0;                      // bytes kept of a frame; 0: all
  std::size_t buffer_size = std::size_t{256} * 1024;  // written when it is full
};

// In the order in which the file describes them, the second one before its first frame.
enum class CaptureInterface : std::uint32_t { kIp = 0, kEthernet = 1 };

enum class PacketDirection : std::uint32_t { kInbound = 1, kOutbound = 2 };

class PcapngWriter {
 public:
  // 0 or errno; after an error there is no file. An existing file is replaced.
  static int open(const std::string& path, const PcapngOptions& options, std::unique_ptr<PcapngWriter>* writer);
  ~PcapngWriter();
  PcapngWriter(const PcapngWriter&) = delete;
  PcapngWriter& operator=(const PcapngWriter&) = delete;

  // `time` is nanoseconds since 1970. After an error and at the limit packets are discarded.
  void write(std::span<const std::uint8_t> frame, PacketDirection direction, std::uint64_t time,
             CaptureInterface interface = CaptureInterface::kIp);
  void flush();
  // In a forked child: the file is the parent's, who alone writes it, and whose lock on it would live as long as the
  // child.
  void abandon();

  // 0, or the errno that ended the capture. The comment of the file's section header then names it, too. It overwrites
  // a comment of the same length that the file has from the start, since a full disk accepts no new bytes.
  int error() const { return error_; }
  bool full() const { return full_; }

 private:
  explicit PcapngWriter(const PcapngOptions& options);
  void put_head();
  void put_ethernet();

  void put_section_header(const std::string& comment);
  void put_interface(const std::string& name, std::uint16_t link_type);
  template <typename T>
  void put(T value);
  void put_bytes(const void* bytes, std::size_t size);
  void fail(int error);

  int fd_ = -1;
  PcapngOptions options_;
  std::vector<std::uint8_t> buffer_;
  std::uint64_t written_ = 0;  // in the file, all of it whole blocks
  int error_ = 0;
  bool full_ = false;
  bool has_ethernet_ = false;
};

}  // namespace verbs::soft::link
