#include "model/setup/registry.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <set>
#include <utility>

#include "model/nic/faults.h"

namespace verbs::doca_comm::model {

namespace {

struct Locked {
  std::mutex mutex;
  std::set<int> descriptors;  // of the entries of this process
};

Locked& locked() {
  static auto* instance = new Locked;  // outlives every thread
  return *instance;
}

struct [[gnu::packed]] Content {
  char magic[8];
  std::uint8_t gid[16];
  std::uint32_t qpn;
  std::uint8_t key[16];
};
constexpr char kMagic[8] = {'d', 'o', 'c', 'a', '-', 'c', 'c', '1'};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

std::string hex(const std::string& text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string result;
  for (const char c : text) {
    result += kDigits[static_cast<unsigned char>(c) >> 4];
    result += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return result;
}

// In hexadecimal, since the name of a service may have any bytes.
std::string file_name(const std::string& representor, const std::string& name) { return representor + "-" + hex(name); }

// The directory of the registry, which only this user can access. Created if it is missing. 0 or errno.
int open_directory(std::string* path) {
  if (const int error = Faults::get().next(Fault::kRegistry)) return error;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  struct stat status;
  // The variable may name the directory of another user, or one that does not exist.
  const bool own = runtime && stat(runtime, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
  *path = own ? std::string(runtime) + "/verbs-doca-comm" : "/dev/shm/verbs-doca-comm-" + std::to_string(geteuid());
  if (mkdir(path->c_str(), 0700) != 0 && errno != EEXIST) return errno;
  if (lstat(path->c_str(), &status) != 0) return errno;
  if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0) return EACCES;
  return 0;
}

struct flock whole_file(short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

bool is_at(int fd, const std::string& path) {
  struct stat here, there;
  return fstat(fd, &here) == 0 && stat(path.c_str(), &there) == 0 && here.st_ino == there.st_ino &&
         here.st_dev == there.st_dev;
}

// Opens and locks the file of a service. 0, EADDRINUSE or another errno.
int lock_file(const std::string& path, int* locked_fd) {
  for (;;) {
    Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file.get() < 0) return errno;
    struct flock lock = whole_file(F_WRLCK);
    if (fcntl(file.get(), F_OFD_SETLK, &lock) != 0) return errno == EAGAIN || errno == EACCES ? EADDRINUSE : errno;
    // The former owner may have removed the file between open and lock.
    if (!is_at(file.get(), path)) continue;
    *locked_fd = file.release();
    return 0;
  }
}

}  // namespace

ServiceEntry::ServiceEntry(std::string path, int fd) : path_(std::move(path)), fd_(fd) {
  const std::lock_guard guard(locked().mutex);
  locked().descriptors.insert(fd_);
}

ServiceEntry::~ServiceEntry() {
  const std::lock_guard guard(locked().mutex);
  if (locked().descriptors.erase(fd_) == 0) return;  // an entry of the parent process
  if (is_at(fd_, path_)) unlink(path_.c_str());
  close(fd_);
}

int ServiceEntry::add(const std::string& representor, const std::string& name, const ServiceAddress& address,
                      std::unique_ptr<ServiceEntry>* entry) {
  std::string path;
  if (const int error = open_directory(&path)) return error;
  path += "/" + file_name(representor, name);
  int fd = -1;
  if (const int error = lock_file(path, &fd)) return error;
  Descriptor file(fd);
  Content content{};
  std::memcpy(content.magic, kMagic, sizeof kMagic);
  std::copy(address.gid.begin(), address.gid.end(), content.gid);
  content.qpn = address.qpn;
  std::copy(address.key.begin(), address.key.end(), content.key);
  if (pwrite(fd, &content, sizeof content, 0) != sizeof content) return errno != 0 ? errno : EIO;
  *entry = std::unique_ptr<ServiceEntry>(new ServiceEntry(std::move(path), file.release()));
  return 0;
}

bool ServiceEntry::intact() const { return is_at(fd_, path_); }

int ServiceEntry::find(const std::string& representor, const std::string& name, ServiceAddress* address) {
  std::string path;
  if (const int error = open_directory(&path)) return error;
  const Descriptor file(open((path + "/" + file_name(representor, name)).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (file.get() < 0) return errno;
  struct flock lock = whole_file(F_WRLCK);
  if (fcntl(file.get(), F_OFD_GETLK, &lock) != 0) return errno;
  if (lock.l_type == F_UNLCK) return ENOENT;
  Content content;
  if (pread(file.get(), &content, sizeof content, 0) != sizeof content) return ENOENT;  // not written yet
  if (std::memcmp(content.magic, kMagic, sizeof kMagic) != 0) return ENOENT;
  std::copy(std::begin(content.gid), std::end(content.gid), address->gid.begin());
  address->qpn = content.qpn;
  std::copy(std::begin(content.key), std::end(content.key), address->key.begin());
  return 0;
}

void ServiceEntry::forget_parent() {
  Locked& entries = locked();
  new (&entries.mutex) std::mutex;
  // The descriptors share the parent's locks. Closing them here keeps the locks; left open, they would keep the locks
  // after the parent's death.
  for (const int fd : entries.descriptors) ::close(fd);
  entries.descriptors.clear();
}

}  // namespace verbs::doca_comm::model
