// ibv_get_sysfs_path and ibv_read_sysfs_file. Our devices have no folder in the kernel's /sys: the files that programs
// read there have their content from here.
#include "host/devices/sysfs.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>

#include "host/devices/registry.h"
#include "verbs_soft_boundary.h"

using namespace verbs::soft;

namespace {

// The content of `file` in the ibdev_path of one of our devices; nullopt for any other folder.
std::optional<std::string> soft_file(const std::string& folder, const std::string& file) {
  const std::string prefix = "/sys/class/infiniband/";
  if (folder.compare(0, prefix.size(), prefix) != 0) return std::nullopt;
  const std::string name = folder.substr(prefix.size(), folder.find('/', prefix.size()) - prefix.size());
  std::string path = folder.substr(prefix.size() + name.size()) + "/" + file;
  path.erase(0, path.find_first_not_of('/'));
  std::optional<std::string> found;
  const int error = host::Registry::get().with(name, [&](host::Device& device) {
    found = host::read_sysfs(device, path).value_or("");
    return 0;
  });
  return error == 0 ? found : std::nullopt;
}

int read_file(const std::string& path, char* buf, std::size_t size) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  const ssize_t length = read(fd, buf, size);
  const int error = errno;
  close(fd);
  errno = error;
  return length < 0 ? -1 : static_cast<int>(length);
}

// Cuts off the line end, terminates the text if there is room, and returns the length without the line end.
int finish(char* buf, std::size_t size, int length) {
  if (length > 0 && buf[length - 1] == '\n') buf[--length] = '\0';
  if (static_cast<std::size_t>(length) < size) {
    buf[length] = '\0';
  } else if (size > 0) {
    buf[size - 1] = '\0';
  }
  return length;
}

int read_any(const char* dir, const char* file, char* buf, std::size_t size) {
  if (const auto content = soft_file(dir, file)) {
    if (content->empty()) {
      errno = ENOENT;
      return -1;
    }
    const std::size_t length = content->copy(buf, size);
    return finish(buf, size, static_cast<int>(length));
  }
  const int length = read_file(std::string(dir) + "/" + file, buf, size);
  return length < 0 ? -1 : finish(buf, size, length);
}

}  // namespace

extern "C" {

const char* ibv_get_sysfs_path() { return "/sys"; }

int ibv_read_sysfs_file(const char* dir, const char* file, char* buf, size_t size) {
  return contain_call([&] { return read_any(dir, file, buf, size); },
                      [](int error) {
                        errno = error;
                        return -1;
                      });
}

}  // extern "C"
