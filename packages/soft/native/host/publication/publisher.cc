#include "host/publication/publisher.h"

#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "verbs_soft_boundary.h"

namespace verbs::soft::host {
namespace {

constexpr auto kBudget = std::chrono::milliseconds(500);

// A program with the rights of another user (setuid) listens to its environment less than to anything.
bool wanted() {
  if (getauxval(AT_SECURE) != 0) return false;
  const char* variable = std::getenv("VERBS_SOFT_PUBLISH");
  return !variable || std::strcmp(variable, "0") != 0;
}

std::string own_name() {
  // The random part: containers may share network names while their process IDs are their own.
  std::uint32_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random) random = 0;
  char suffix[32];
  std::snprintf(suffix, sizeof suffix, "%d.%08x", static_cast<int>(getpid()), random);
  return publisher_prefix(geteuid()) + suffix;
}

// A reader gets the report of the time when it came.
class Reading final : public link::Visit {
 public:
  explicit Reading(const Publisher::Report& report) : report_(report) {}

  Next proceed(int fd) override {
    if (!text_) text_ = report_();
    while (sent_ < text_->size()) {
      const ssize_t count = send(fd, text_->data() + sent_, text_->size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return errno == EAGAIN ? Next::kWrite : Next::kOver;
      sent_ += static_cast<std::size_t>(count);
    }
    return Next::kOver;
  }

 private:
  const Publisher::Report& report_;
  std::optional<std::string> text_;
  std::size_t sent_ = 0;
};

}  // namespace

std::string publisher_prefix(uid_t user) { return "verbs-soft." + std::to_string(user) + "."; }

std::unique_ptr<Publisher> Publisher::start(Report report) {
  if (!wanted()) return nullptr;
  return contain(
      [&]() -> std::unique_ptr<Publisher> {
        std::unique_ptr<Publisher> publisher(new Publisher(std::move(report)));
        const auto receive = [self = publisher.get()] { return std::make_unique<Reading>(self->report_); };
        if (link::Door::open(own_name(), kBudget, receive, &publisher->door_) != 0) return nullptr;
        return publisher;
      },
      [](int) { return std::unique_ptr<Publisher>(); });
}

}  // namespace verbs::soft::host
