#include "link/sharing/mailbox.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "link/doors/local_socket.h"
#include "verbs_soft_boundary.h"
#include "verbs_soft_cancel.h"

namespace verbs::soft::link {
namespace {

constexpr auto kDeliveryTime = std::chrono::seconds(1);
// So many wait for a link that does not look. A fork may come between: the list has its memory from the beginning.
constexpr std::size_t kMostLetters = 256;

pid_t sender_of(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

}  // namespace

int send_letter(std::string_view name, std::span<const std::uint8_t> letter) {
  const Uncancelled calls;
  int fd = -1;
  if (const int error = connect_to(name, &fd)) return error;
  const ssize_t size = send(fd, letter.data(), letter.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  const int error = size == static_cast<ssize_t>(letter.size()) ? 0 : EAGAIN;
  hang_up(fd);  // what was sent stays there
  return error;
}

// A letter ends with its connection.
class Mailbox::Delivery final : public Visit {
 public:
  explicit Delivery(Mailbox& mailbox) : mailbox_(mailbox) {}

  Next proceed(int fd) override {
    for (;;) {
      std::uint8_t bytes[4096];
      std::size_t size = 0;
      const int error = receive(fd, bytes, &size);
      if (error == EAGAIN) return Next::kRead;
      if (error != 0) return Next::kOver;
      if (size == 0) break;
      if (letter_.bytes.size() + size > kMostLetter) return Next::kOver;
      letter_.bytes.insert(letter_.bytes.end(), bytes, bytes + size);
    }
    letter_.sender = sender_of(fd);
    const std::lock_guard lock(mailbox_.mutex_);
    if (mailbox_.letters_.size() < kMostLetters) mailbox_.letters_.push_back(std::move(letter_));
    const std::uint64_t one = 1;
    (void)!write(mailbox_.event_, &one, sizeof one);
    return Next::kOver;
  }

 private:
  Mailbox& mailbox_;
  Letter letter_;
};

Mailbox::Mailbox() {
  letters_.reserve(kMostLetters);
  event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

Mailbox::~Mailbox() {
  doors_.clear();
  if (event_ >= 0) ::close(event_);
}

int Mailbox::open(const std::string& name) {
  if (event_ < 0) return EMFILE;
  if (doors_.contains(name)) return EADDRINUSE;
  const auto place = doors_.try_emplace(name).first;
  const auto receive = [this] { return std::make_unique<Delivery>(*this); };
  const int error = contain([&] { return Door::open(name, kDeliveryTime, receive, &place->second); },
                            [](int failed) { return failed; });
  if (error != 0) doors_.erase(place);
  return error;
}

std::vector<Letter> Mailbox::take() {
  std::vector<Letter> taken;
  taken.reserve(kMostLetters);
  const std::lock_guard lock(mutex_);
  std::uint64_t count = 0;
  (void)!read(event_, &count, sizeof count);
  for (Letter& letter : letters_) taken.push_back(std::move(letter));
  letters_.clear();
  return taken;
}

void Mailbox::abandon() {
  for (const auto& [name, door] : doors_) door->abandon();
  if (event_ >= 0) ::close(std::exchange(event_, -1));
}

}  // namespace verbs::soft::link
