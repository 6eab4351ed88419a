#include "link/ethernet/tap.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace verbs::soft::link {
namespace {

ifreq request_for(const std::string& name) {
  ifreq request{};
  std::strncpy(request.ifr_name, name.c_str(), sizeof request.ifr_name - 1);
  return request;
}

int make_interface(int fd, const std::string& name) {
  ifreq request = request_for(name);
  request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_TUN_EXCL;
  return ioctl(fd, TUNSETIFF, &request) == 0 ? 0 : errno;
}

int bring_up(const std::string& name, std::uint32_t mtu) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return errno;
  ifreq length = request_for(name), flags = request_for(name);
  length.ifr_mtu = static_cast<int>(mtu);
  const bool done = ioctl(socket, SIOCSIFMTU, &length) == 0 && ioctl(socket, SIOCGIFFLAGS, &flags) == 0 &&
                    (flags.ifr_flags |= IFF_UP, ioctl(socket, SIOCSIFFLAGS, &flags) == 0);
  const int error = done ? 0 : errno;
  close(socket);
  return error;
}

class Writer final : public Receiver {
 public:
  Writer(int fd, TapCounters& counters) : fd_(fd), counters_(counters) {}
  void deliver(std::span<const std::uint8_t> frame) override {
    const ssize_t size = write(fd_, frame.data(), frame.size());
    ++(size == static_cast<ssize_t>(frame.size()) ? counters_.sent : counters_.dropped);
  }

 private:
  int fd_;
  TapCounters& counters_;
};

}  // namespace

int Tap::open(const std::string& name, std::uint32_t mtu, std::shared_ptr<EthernetSwitch> to,
              std::function<void()> notify, std::unique_ptr<Tap>* tap) {
  const int fd = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return errno;
  int error = make_interface(fd, name);
  if (error == 0) error = bring_up(name, mtu);
  if (error != 0) {
    close(fd);
    return error;
  }
  try {
    tap->reset(new Tap(fd, std::move(to), std::move(notify)));
  } catch (...) {  // there is no memory: the interface goes with its descriptor
    close(fd);
    throw;
  }
  return 0;
}

Tap::Tap(int fd, std::shared_ptr<EthernetSwitch> to, std::function<void()> notify)
    : fd_(fd), link_(std::move(to), nullptr, std::move(notify)) {}

Tap::~Tap() {
  if (fd_ >= 0) close(fd_);
}

void Tap::forget() {
  close(fd_);
  fd_ = -1;
}

bool Tap::read_frame() {
  const ssize_t size = read(fd_, link_.reserve(), wire::kMaxFrame);
  if (size <= 0) return false;
  ++counters_.received;
  link_.commit(static_cast<std::size_t>(size));
  return true;
}

std::size_t Tap::write_frames(std::size_t budget) {
  Writer writer(fd_, counters_);
  return link_.receive(writer, budget);
}

bool Tap::relay(std::size_t budget) {
  const std::size_t written = write_frames(budget);
  std::size_t taken = 0;
  while (taken < budget && read_frame()) ++taken;
  return written >= budget || taken >= budget;
}

}  // namespace verbs::soft::link
