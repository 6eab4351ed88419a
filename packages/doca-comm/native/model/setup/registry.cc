#include "model/setup/registry.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <utility>

#include "model/base/descriptor.h"
#include "model/base/last_error.h"
#include "model/nic/faults.h"
#include "model/setup/registry_directory.h"

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

struct flock whole_file(short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

bool is_at(int fd, int directory, const std::string& name) {
  struct stat here, there;
  return fstat(fd, &here) == 0 && fstatat(directory, name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
         here.st_ino == there.st_ino && here.st_dev == there.st_dev;
}

// Opens and locks the file of a service. 0, EADDRINUSE or another errno.
int lock_file(int directory, const std::string& name, Descriptor* locked_file) {
  int tries = 10;
  for (;;) {
    Descriptor file(openat(directory, name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.is_open()) return errno;
    struct flock lock = whole_file(F_WRLCK);
    if (fcntl(file.get(), F_OFD_SETLK, &lock) != 0) {
      if (errno != EAGAIN && errno != EACCES) return errno;
      if (--tries == 0) return EADDRINUSE;
      usleep(1000);  // another process may be clearing the directory
      continue;
    }
    // The former owner may have removed the file between open and lock.
    if (!is_at(file.get(), directory, name)) continue;
    *locked_file = std::move(file);
    return 0;
  }
}

// Removes what processes left that were killed: the names of some have a process id, and nobody takes their place.
void clear(int directory) {
  Descriptor scanned(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(fdopendir(scanned.get()), closedir);
  if (!entries) return;
  scanned.release();
  while (const dirent* entry = readdir(entries.get())) {
    if (entry->d_type != DT_REG) continue;
    const Descriptor file(openat(directory, entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status;
    // An empty one is about to be locked by the process that has just created it.
    if (!file.is_open() || fstat(file.get(), &status) != 0 || status.st_size == 0) continue;
    struct flock lock = whole_file(F_WRLCK);
    if (fcntl(file.get(), F_OFD_SETLK, &lock) != 0) continue;
    if (is_at(file.get(), directory, entry->d_name)) unlinkat(directory, entry->d_name, 0);
  }
}

// The errno of a call that failed, with its reason in last_error().
int failed(const std::string& what, int error) {
  last_error() = what + ": " + std::strerror(error);
  return error;
}

// The content of the file of a living service. 0, ENOENT, or the errno value of a failed access.
int read_file(int directory, const std::string& name, Content* content) {
  const Descriptor file(openat(directory, name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) return errno;
  struct flock lock = whole_file(F_WRLCK);
  if (fcntl(file.get(), F_OFD_GETLK, &lock) != 0) return errno;
  if (lock.l_type == F_UNLCK) return ENOENT;
  if (pread(file.get(), content, sizeof *content, 0) != sizeof *content) return ENOENT;  // not written yet
  return std::memcmp(content->magic, kMagic, sizeof kMagic) == 0 ? 0 : ENOENT;
}

}  // namespace

ServiceEntry::ServiceEntry(Descriptor directory, std::string name, Descriptor file)
    : directory_(std::move(directory)), name_(std::move(name)), file_(std::move(file)) {
  const std::lock_guard guard(locked().mutex);
  locked().descriptors.insert({directory_.get(), file_.get()});
}

ServiceEntry::~ServiceEntry() {
  const std::lock_guard guard(locked().mutex);
  if (locked().descriptors.erase(file_.get()) == 0) {  // an entry of the parent process, closed already
    file_.release();
    directory_.release();
    return;
  }
  locked().descriptors.erase(directory_.get());
  if (intact()) unlinkat(directory_.get(), name_.c_str(), 0);
  file_.reset();
}

int ServiceEntry::add(const std::string& representor, const std::string& name, const ServiceAddress& address,
                      std::unique_ptr<ServiceEntry>* entry) {
  last_error().clear();
  if (const int error = Faults::get().next(Fault::kRegistry)) return failed("the registry", error);
  std::vector<RegistryDirectory> directories;
  if (const int error = RegistryDirectory::open_all(true, &directories)) return error;
  const std::string file = file_name(representor, name);
  const std::string path = directories.front().path + "/" + file;
  Descriptor directory = std::move(directories.front().descriptor);
  Descriptor locked_file;
  if (const int error = lock_file(directory.get(), file, &locked_file)) {
    return error == EADDRINUSE ? error : failed(path, error);
  }
  // From here on its end removes the file.
  std::unique_ptr<ServiceEntry> added(new ServiceEntry(std::move(directory), file, std::move(locked_file)));
  // After the lock: of two processes that chose different directories at the same time, one sees the other's lock.
  if (const int error = RegistryDirectory::open_all(false, &directories)) return error;
  Content content{};
  for (const RegistryDirectory& other : directories) {
    if (is_at(added->file_.get(), other.descriptor.get(), file)) continue;
    if (read_file(other.descriptor.get(), file, &content) == 0) return EADDRINUSE;
  }
  clear(added->directory_.get());
  content = {};
  std::memcpy(content.magic, kMagic, sizeof kMagic);
  std::copy(address.gid.begin(), address.gid.end(), content.gid);
  content.qpn = address.qpn;
  std::copy(address.key.begin(), address.key.end(), content.key);
  const ssize_t written = pwrite(added->file_.get(), &content, sizeof content, 0);
  if (written != sizeof content) return failed(path, written < 0 ? errno : ENOSPC);
  *entry = std::move(added);
  return 0;
}

bool ServiceEntry::intact() const { return is_at(file_.get(), directory_.get(), name_); }

int ServiceEntry::find(const std::string& representor, const std::string& name, ServiceAddress* address) {
  last_error().clear();
  if (const int error = Faults::get().next(Fault::kRegistry)) return error;
  std::vector<RegistryDirectory> directories;
  if (const int error = RegistryDirectory::open_all(false, &directories)) return error;
  int result = ENOENT;
  for (const RegistryDirectory& directory : directories) {
    Content content;
    const int error = read_file(directory.descriptor.get(), file_name(representor, name), &content);
    if (error == ENOENT) continue;
    result = error;
    if (error != 0) continue;
    std::copy(std::begin(content.gid), std::end(content.gid), address->gid.begin());
    address->qpn = content.qpn;
    std::copy(std::begin(content.key), std::end(content.key), address->key.begin());
    break;
  }
  return result;
}

std::mutex& ServiceEntry::lock() { return locked().mutex; }

void ServiceEntry::forget_parent() {
  Locked& entries = locked();
  // The descriptors share the parent's locks. Closing them here keeps the locks; left open, they would keep the locks
  // after the parent's death.
  for (const int fd : entries.descriptors) ::close(fd);
  entries.descriptors.clear();
}

}  // namespace verbs::doca_comm::model
