// Connection set-ups of a service, over the software NIC: handshakes of several clients, of right and wrong keys, in
// any order and again, while the program accepts, lists and disconnects, and time passes. The limits hold, no request
// without the right to it is taken, and at the end nothing is left. The clients themselves are not there.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>

#include "fuzz/check.h"
#include "fuzz/input.h"
#include "model/bluefield/device.h"
#include "model/bluefield/model.h"
#include "model/channel/service.h"

using namespace verbs::doca_comm::model;
using verbs::soft::fuzz::Input;

namespace {

using Type = HandshakeMessage::Type;

constexpr std::size_t kMaxConnections = 6;
constexpr std::size_t kMaxPerClient = 4;
constexpr std::size_t kMostSteps = 40;
// The host behind the representor: it needs no key.
constexpr std::uint8_t kHost = 9;
// What goes to services; the handshake channel gives the other types to clients.
constexpr Type kTypes[] = {Type::kConnect, Type::kConnect, Type::kConnect,  Type::kConnect,
                           Type::kCancel,  Type::kLeave,   Type::kDismissed};

Gid loopback(std::uint8_t last) {
  Gid gid{};
  gid[10] = gid[11] = 0xff;
  gid[12] = 127;
  gid[13] = gid[14] = 9;
  gid[15] = last;
  return gid;
}

// From here on nothing changes but by the input, and what the kernel said once is said again.
bool is_set_up = false;

template <typename Value>
struct Answer {
  int to = -1;  // a descriptor, or a signal
  int result = 0;
  Value value{};
};

template <typename Value, typename Ask>
int remembered(Answer<Value>& answer, int question, Value* value, Ask ask) {
  if (!is_set_up) return static_cast<int>(ask(value));
  if (answer.to != question) {
    answer.result = static_cast<int>(ask(&answer.value));
    answer.to = question;
  }
  *value = answer.value;
  return answer.result;
}

class Setups {
 public:
  Setups() {
    setenv("VERBS_SOFT",
           "fuzz0,kind=doca,role=dpu,pci=0000:03:00.0,reps=0000:3b:00.0@127.9.9.9,max_connections=6,max_per_client=4,"
           "link=udp",
           1);
    FUZZ_CHECK(attached_verbs() != nullptr);
    std::vector<doca_devinfo*> devices;
    FUZZ_CHECK(Bluefield::get().list(&devices) == DOCA_SUCCESS && devices.size() == 1);
    FUZZ_CHECK(Bluefield::get().open(devices[0], &dev_) == DOCA_SUCCESS);
    const doca_devinfo_rep& representor = devices[0]->representors[0]->info;
    const Sizes sizes{.message = 64, .send_queue = 4, .recv_queue = 4};
    FUZZ_CHECK(Service::listen(*dev_, representor, sizes, name_, &service_) == DOCA_SUCCESS);
    ServiceAddress address;
    FUZZ_CHECK(ServiceEntry::find(representor.pci, name_, &address) == 0);
    key_ = address.key;
    is_set_up = true;
  }

  void run(Input& input) {
    for (std::size_t i = 0; i < kMostSteps && !input.empty(); ++i) {
      step(input);
      check();
    }
    end();
  }

 private:
  void step(Input& input) {
    switch (input.below(8)) {
      case 0:
        return accept();
      case 1:
        return pass(input.byte() * 50 * kMillisecond);
      case 2: {
        const std::lock_guard guard(service_->transport().mutex());
        const doca_error_t error = service_->update_state();
        FUZZ_CHECK(error == DOCA_SUCCESS);
        FUZZ_CHECK(service_->peers().size() + service_->pending() <= kMaxConnections);
        return;
      }
      default:
        return handshake(input);
    }
  }

  void handshake(Input& input) {
    const std::uint8_t choice = input.byte();
    HandshakeMessage message;
    message.type = kTypes[choice % std::size(kTypes)];
    message.client_id = input.below(4);
    message.key = key_;
    const bool wrong_key = input.one_in(4);
    if (wrong_key) message.key[input.below(message.key.size())] ^= 1;
    message.representor = "0000:3b:00.0";
    message.name = name_;
    message.end = {.data_qpn = input.byte(),
                   .control_qpn = input.byte(),
                   .psn = input.byte(),
                   .max_msg_size = input.byte(),
                   .recv_queue_size = input.byte(),
                   .mtu = static_cast<std::uint8_t>(IBV_MTU_256 + input.below(5))};
    const std::uint8_t host = input.one_in(4) ? kHost : static_cast<std::uint8_t>(1 + input.below(2));
    const UdAddress from{loopback(host), 100u + static_cast<std::uint32_t>(input.below(2))};
    // As it arrives.
    std::array<std::uint8_t, HandshakeMessage::kSize> bytes;
    message.write(bytes);
    HandshakeMessage arrived;
    FUZZ_CHECK(arrived.read(bytes));
    const std::uint32_t before = pending();
    service_->on_handshake(arrived, from);
    const bool may_connect = arrived.type == Type::kConnect && (!wrong_key || host == kHost) &&
                             arrived.end.max_msg_size != 0 && arrived.end.recv_queue_size != 0;
    FUZZ_CHECK(pending() <= before || may_connect);
  }

  std::uint32_t pending() {
    const std::lock_guard guard(service_->transport().mutex());
    FUZZ_CHECK(service_->update_state() == DOCA_SUCCESS);
    return service_->pending();
  }

  // Accepts what is pending, and frees lost peers.
  void accept() {
    while (free_lost()) {
    }
  }
  bool free_lost() {
    std::array<std::uint8_t, 64> message;
    std::size_t size = message.size();
    doca_comm_channel_addr_t* from = nullptr;
    std::optional<std::uint32_t> number;
    {
      const std::lock_guard guard(service_->transport().mutex());
      const doca_error_t error = service_->receive(message.data(), &size, &from);
      // Nobody sends messages; a request may come from an address that no route leads to.
      FUZZ_CHECK(error == DOCA_ERROR_AGAIN || error == DOCA_ERROR_CONNECTION_RESET ||
                 error == DOCA_ERROR_INITIALIZATION);
      if (error == DOCA_ERROR_CONNECTION_RESET) number = find_peer(from)->number;
    }
    if (!number) return false;
    FUZZ_CHECK(service_->disconnect(*number) == DOCA_SUCCESS);
    return true;
  }

  void pass(Nanos time) { service_->on_timer(now() + time); }

  void check() {
    const std::lock_guard guard(service_->transport().mutex());
    PeerTable& peers = service_->transport().peers();
    FUZZ_CHECK(peers.count_connected() <= kMaxConnections && peers.count() <= 2 * kMaxConnections);
    std::array<std::size_t, kHost + 1> of_host{};
    peers.each([&](const Peer& peer) { of_host.at(peer.remote.gid[15]) += peer.lost ? 0 : 1; });
    for (const std::size_t count : of_host) FUZZ_CHECK(count <= kMaxPerClient);
  }

  // All clients go; requests that nobody repeats time out.
  void end() {
    {
      const std::lock_guard guard(service_->transport().mutex());
      Transport& transport = service_->transport();
      transport.peers().each([&](Peer& peer) { transport.mark_lost(peer); });
    }
    pass(10 * kSecond);
    FUZZ_CHECK(pending() == 0);
    accept();
    const std::lock_guard guard(service_->transport().mutex());
    FUZZ_CHECK(service_->transport().peers().count() == 0);
  }

  const std::string name_ = "fuzz-" + std::to_string(getpid());
  doca_dev* dev_ = nullptr;
  std::shared_ptr<Service> service_;
  Key key_{};
};

}  // namespace

// In place of libc's, for the software NIC's library as well: a network that takes everything and brings nothing, an
// entry, handlers and masks of signals that stay, and a descriptor that nobody waits for. Most of the time of an
// execution went to the kernel's answers.
extern "C" int sendmmsg(int, mmsghdr*, unsigned count, int) { return static_cast<int>(count); }
extern "C" int recvmmsg(int, mmsghdr*, unsigned, int, timespec*) {
  errno = EAGAIN;
  return -1;
}
extern "C" int fstat(int fd, struct stat* status) noexcept {
  static thread_local Answer<struct stat> answer;
  return remembered(answer, fd, status,
                    [&](struct stat* out) { return syscall(SYS_newfstatat, fd, "", out, AT_EMPTY_PATH); });
}
extern "C" int fstatat(int folder, const char* name, struct stat* status, int flags) noexcept {
  static thread_local Answer<struct stat> answer;
  return remembered(answer, folder, status,
                    [&](struct stat* out) { return syscall(SYS_newfstatat, folder, name, out, flags); });
}
extern "C" int sigaction(int signal, const struct sigaction* next, struct sigaction* old) noexcept {
  static const auto kernel = reinterpret_cast<decltype(&::sigaction)>(dlsym(RTLD_NEXT, "sigaction"));
  static thread_local std::array<Answer<struct sigaction>, NSIG> answers;
  if (signal < 0 || signal >= NSIG) return kernel(signal, next, old);
  if (next != nullptr) answers[static_cast<std::size_t>(signal)].to = -1;
  if (next != nullptr || old == nullptr) return kernel(signal, next, old);
  return remembered(answers[static_cast<std::size_t>(signal)], signal, old,
                    [&](struct sigaction* out) { return kernel(signal, nullptr, out); });
}
extern "C" int pthread_sigmask(int how, const sigset_t* next, sigset_t* old) noexcept {
  static const auto kernel = reinterpret_cast<decltype(&::pthread_sigmask)>(dlsym(RTLD_NEXT, "pthread_sigmask"));
  static thread_local Answer<sigset_t> answer;
  if (next != nullptr) answer.to = -1;
  if (next != nullptr || old == nullptr) return kernel(how, next, old);
  return remembered(answer, 0, old, [&](sigset_t* out) { return kernel(how, nullptr, out); });
}
extern "C" int eventfd_write(int fd, eventfd_t value) {
  return is_set_up || write(fd, &value, sizeof value) == sizeof value ? 0 : -1;
}

// Anonymous memory of the thread, that of connections first of all, serves the next one: to unmap it took a third of
// the time. The form with the sanitizers unmaps it, and so would see an access that comes too late.
#ifdef VERBS_FUZZ_FAST
namespace {
struct Mapping {
  void* memory;
  std::size_t size;
  bool used;
};
thread_local std::array<Mapping, 2 * kMaxConnections> mappings{};
}  // namespace

extern "C" void* mmap(void* at, std::size_t size, int protection, int flags, int fd, off_t offset) noexcept {
  const bool ours = is_set_up && at == nullptr && size != 0 && fd == -1;
  for (Mapping& mapping : mappings) {
    if (!ours || mapping.used || mapping.size != size) continue;
    mapping.used = true;
    return std::memset(mapping.memory, 0, size);
  }
  void* memory = reinterpret_cast<void*>(syscall(SYS_mmap, at, size, protection, flags, fd, offset));
  const auto free = std::find_if(mappings.begin(), mappings.end(), [](const Mapping& each) { return each.size == 0; });
  if (ours && free != mappings.end() && memory != MAP_FAILED) *free = {memory, size, true};
  return memory;
}
extern "C" int munmap(void* memory, std::size_t size) noexcept {
  for (Mapping& mapping : mappings) {
    if (mapping.memory != memory || mapping.size != size || memory == nullptr) continue;
    mapping.used = false;
    return 0;
  }
  return static_cast<int>(syscall(SYS_munmap, memory, size));
}
#endif

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Never closed: the threads of the devices end with the process.
  static Setups& setups = *new Setups;
  Input input(data, size);
  setups.run(input);
  return 0;
}
