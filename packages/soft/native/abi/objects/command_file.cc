#include "abi/objects/command_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <string>

#include "abi/objects/locks.h"
#include "abi/objects/objects.h"

namespace verbs::soft::abi {

namespace {

constexpr char kName[] = "verbs-soft";

struct KnownFile {
  dev_t dev;
  ino_t inode;
  std::weak_ptr<CommandFile> file;
};
using Files = std::vector<KnownFile>;

// Guarded by process_lock(); never destroyed.
Files& files() {
  static Files* all = new Files;
  return *all;
}

bool is_ours(int fd) {
  char target[64];
  const ssize_t size = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), target, sizeof target);
  const std::string prefix = std::string("/memfd:") + kName;
  return size > 0 && std::string(target, static_cast<std::size_t>(size)).rfind(prefix, 0) == 0;
}

}  // namespace

int CommandFile::create(ibv_device* device, std::shared_ptr<CommandFile>* file, int* fd) {
  // Nothing is sent through it. Its inode identifies the file, also by copies of the descriptor.
  auto made = std::make_shared<CommandFile>();
  made->device_ = device;
  const std::lock_guard lock(process_lock());
  std::erase_if(files(), [](const auto& known) { return known.file.expired(); });
  files().reserve(files().size() + 1);
  const int made_fd = memfd_create(kName, MFD_CLOEXEC);
  if (made_fd < 0) return errno;
  struct stat identity{};
  fstat(made_fd, &identity);
  files().push_back({identity.st_dev, identity.st_ino, made});
  *file = std::move(made);
  *fd = made_fd;
  return 0;
}

int CommandFile::find(int fd, std::shared_ptr<CommandFile>* file) {
  struct stat identity{};
  if (fstat(fd, &identity) != 0) return errno;
  std::shared_ptr<CommandFile> found;  // released without the lock
  {
    const std::lock_guard lock(process_lock());
    for (const KnownFile& known : files()) {
      if (known.dev == identity.st_dev && known.inode == identity.st_ino) found = known.file.lock();
    }
    if (found && !found->open_.empty() && !found->inherited()) {
      *file = std::move(found);
      return 0;
    }
  }
  return is_ours(fd) ? EOPNOTSUPP : EINVAL;
}

bool CommandFile::inherited() const {
  const host::Adapter* adapter = open_.front()->adapter;
  return adapter && adapter->core.inherited();
}

void CommandFile::open(Context* context) {
  const std::lock_guard lock(process_lock());
  closed_.reserve(open_.size() + closed_.size() + 1);
  open_.push_back(context);
}

std::vector<Context*> CommandFile::close(Context* context) {
  const std::lock_guard lock(process_lock());
  std::erase(open_, context);
  closed_.push_back(context);
  return open_.empty() ? std::exchange(closed_, {}) : std::vector<Context*>{};
}

}  // namespace verbs::soft::abi
