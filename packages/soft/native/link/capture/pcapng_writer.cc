#include "link/capture/pcapng_writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "verbs_soft_cancel.h"

namespace verbs::soft::link {
namespace {

// The format's numbers: draft-ietf-opsawg-pcapng.
constexpr std::uint32_t kSectionHeader = 0x0a0d0d0a;
constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d;
constexpr std::uint32_t kInterfaceDescription = 1;
constexpr std::uint32_t kEnhancedPacket = 6;
constexpr std::uint16_t kLinkTypeEthernet = 1;
constexpr std::uint16_t kLinkTypeRawIp = 101;
constexpr std::uint16_t kOptEnd = 0;
constexpr std::uint16_t kOptComment = 1;
constexpr std::uint16_t kIfName = 2;
constexpr std::uint16_t kIfTimeResolution = 9;
constexpr std::uint16_t kPacketFlags = 2;

constexpr std::size_t kCommentSize = 128;
constexpr const char* kComment = "capture by verbs soft NIC";
constexpr std::size_t kSectionHeaderSize = 24 + 4 + kCommentSize + 4 + 4;
constexpr std::size_t kPacketOverhead = 32 + 12;  // block without the bytes, its flags and end of options

// write() to a file at its size limit, or to a pipe without a reader, fails and also raises a signal that ends the
// program by default. While an object of this class exists, such a signal is blocked; its destructor consumes it.
class WriteSignals {
 public:
  WriteSignals() {
    sigemptyset(&ours_);
    sigaddset(&ours_, SIGXFSZ);
    sigaddset(&ours_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &ours_, &old_);
    sigset_t pending;
    sigpending(&pending);
    // A signal that is pending already belongs to the program.
    if (sigismember(&pending, SIGXFSZ) == 1) sigdelset(&ours_, SIGXFSZ);
    if (sigismember(&pending, SIGPIPE) == 1) sigdelset(&ours_, SIGPIPE);
  }
  ~WriteSignals() {
    constexpr timespec kNoWait{};
    while (sigtimedwait(&ours_, nullptr, &kNoWait) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &old_, nullptr);
  }
  WriteSignals(const WriteSignals&) = delete;
  WriteSignals& operator=(const WriteSignals&) = delete;

 private:
  sigset_t ours_, old_;
};

// Returns how many bytes were written, and sets *error to 0 or errno.
std::size_t write_all(int fd, std::span<const std::uint8_t> bytes, int* error) {
  const WriteSignals guard;
  std::size_t done = 0;
  *error = 0;
  while (done < bytes.size() && *error == 0) {
    const ssize_t count = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0) {
      *error = ENOSPC;  // the standard allows it for a device that takes nothing
    } else if (errno != EINTR) {
      *error = errno;
    }
  }
  return done;
}

// The size of the whole blocks at the start of `bytes`. The second word of a block is its length.
std::size_t whole_blocks(std::span<const std::uint8_t> bytes) {
  std::size_t end = 0;
  while (end + 8 <= bytes.size()) {
    std::uint32_t length;
    std::memcpy(&length, &bytes[end + 4], sizeof length);
    if (length > bytes.size() - end) break;
    end += length;
  }
  return end;
}

// `ENOSPC`, or the number where the C library (musl) has no names.
std::string name_of(int error) {
#if defined(__GLIBC__)
  if (const char* name = strerrorname_np(error)) return name;
#endif
  return std::to_string(error);
}

std::size_t padded(std::size_t size) { return (size + 3) & ~std::size_t{3}; }

std::size_t interface_size(const std::string& name) { return 20 + 4 + padded(name.size()) + 8 + 4; }

}  // namespace

// Two programs of one machine often have the same configuration, and so the same path: the file is the first one's.
int PcapngWriter::open(const std::string& path, const PcapngOptions& options, std::unique_ptr<PcapngWriter>* writer) {
  std::unique_ptr<PcapngWriter> made(new PcapngWriter(options));
  made->fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (made->fd_ < 0) return errno;
  struct stat status{};
  const bool is_regular = fstat(made->fd_, &status) == 0 && S_ISREG(status.st_mode);
  if (is_regular) {
    if (flock(made->fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return EBUSY;  // some systems have no locks
    if (ftruncate(made->fd_, 0) != 0) return errno;
  }
  made->put_head();
  // Writes the head at once: a full disk is then an error of this call.
  made->flush();
  if (const int error = made->error()) {
    if (is_regular) unlink(path.c_str());  // leaves no empty file
    return error;
  }
  *writer = std::move(made);
  return 0;
}

PcapngWriter::PcapngWriter(const PcapngOptions& options) : options_(options) {
  buffer_.reserve(options.buffer_size + 8192);
}

void PcapngWriter::put_head() {
  put_section_header(kComment);
  put_interface(options_.interface_name, kLinkTypeRawIp);
}

void PcapngWriter::put_ethernet() {
  put_interface(options_.ethernet_name, kLinkTypeEthernet);
  has_ethernet_ = true;
}

PcapngWriter::~PcapngWriter() {
  flush();
  if (fd_ >= 0) close(fd_);
}

void PcapngWriter::abandon() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
  buffer_.clear();
}

template <typename T>
void PcapngWriter::put(T value) {
  put_bytes(&value, sizeof value);
}

void PcapngWriter::put_bytes(const void* bytes, std::size_t size) {
  const auto* from = static_cast<const std::uint8_t*>(bytes);
  buffer_.insert(buffer_.end(), from, from + size);
  buffer_.resize(buffer_.size() + padded(size) - size);
}

void PcapngWriter::put_section_header(const std::string& comment) {
  std::string text = comment.substr(0, kCommentSize);
  text.resize(kCommentSize, ' ');
  buffer_.reserve(buffer_.size() + kSectionHeaderSize);
  const auto half = [this](std::uint16_t a, std::uint16_t b) { put(static_cast<std::uint32_t>(a | b << 16)); };
  put(kSectionHeader);
  put(static_cast<std::uint32_t>(kSectionHeaderSize));
  put(kByteOrderMagic);
  half(1, 0);                           // version 1.0
  put(static_cast<std::uint64_t>(-1));  // section length: not given
  half(kOptComment, kCommentSize);
  put_bytes(text.data(), text.size());
  half(kOptEnd, 0);
  put(static_cast<std::uint32_t>(kSectionHeaderSize));
}

void PcapngWriter::put_interface(const std::string& name, std::uint16_t link_type) {
  const std::size_t size = interface_size(name);
  const auto half = [this](std::size_t a, std::size_t b) { put(static_cast<std::uint32_t>(a | b << 16)); };
  put(kInterfaceDescription);
  put(static_cast<std::uint32_t>(size));
  half(link_type, 0);
  put(options_.snap_length);
  half(kIfName, name.size());
  put_bytes(name.data(), name.size());
  half(kIfTimeResolution, 1);
  constexpr std::uint8_t kNanoseconds = 9;  // 10^-9 s
  put(kNanoseconds);
  half(kOptEnd, 0);
  put(static_cast<std::uint32_t>(size));
}

void PcapngWriter::write(std::span<const std::uint8_t> frame, PacketDirection direction, std::uint64_t time,
                         CaptureInterface interface) {
  if (error_ != 0 || full_) return;
  const std::size_t kept =
      options_.snap_length == 0 ? frame.size() : std::min<std::size_t>(frame.size(), options_.snap_length);
  const auto size = static_cast<std::uint32_t>(kPacketOverhead + padded(kept));
  const bool first_ethernet = interface == CaptureInterface::kEthernet && !has_ethernet_;
  const std::size_t needed = size + (first_ethernet ? interface_size(options_.ethernet_name) : 0);
  if (options_.max_bytes != 0 && written_ + buffer_.size() + needed > options_.max_bytes) {
    full_ = true;
    flush();
    return;
  }
  if (first_ethernet) put_ethernet();
  put(kEnhancedPacket);
  put(size);
  put(static_cast<std::uint32_t>(interface));
  put(static_cast<std::uint32_t>(time >> 32));
  put(static_cast<std::uint32_t>(time));
  put(static_cast<std::uint32_t>(kept));
  put(static_cast<std::uint32_t>(frame.size()));
  put_bytes(frame.data(), kept);
  put(static_cast<std::uint32_t>(kPacketFlags | 4u << 16));
  put(static_cast<std::uint32_t>(direction));
  put(std::uint32_t{kOptEnd});
  put(size);
  if (buffer_.size() >= options_.buffer_size) flush();
}

void PcapngWriter::flush() {
  const Uncancelled calls;
  if (error_ == 0 && !buffer_.empty()) {
    int error = 0;
    const std::size_t done = write_all(fd_, buffer_, &error);
    written_ += error == 0 ? done : whole_blocks({buffer_.data(), done});
    if (error != 0) fail(error);
  }
  buffer_.clear();
}

void PcapngWriter::fail(int error) {
  error_ = error;
  buffer_.clear();
  // A device or a pipe cannot be truncated; error() still has the cause.
  if (ftruncate(fd_, static_cast<off_t>(written_)) != 0 || written_ < kSectionHeaderSize) return;
  put_section_header(std::string("capture incomplete: ") + std::strerror(error) + " (" + name_of(error) + ")");
  // Overwrites the old comment, which needs no more space on a full disk. If it fails, the packets are still valid.
  [[maybe_unused]] const ssize_t written = pwrite(fd_, buffer_.data(), buffer_.size(), 0);
  buffer_.clear();
}

}  // namespace verbs::soft::link
