// Letters between processes of this user on this host: small messages that need no connection that stays. A letter is
// a visit at a door (doors/door.h): it waits there while the receiver is stopped, and its sender waits for nothing.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "link/doors/door.h"

namespace verbs::soft::link {

inline constexpr std::size_t kMostLetter = 16 << 10;  // bytes

struct Letter {
  pid_t sender = 0;  // as this process' namespace numbers it; 0: it does not
  std::vector<std::uint8_t> bytes;
};

// 0 or errno; ECONNREFUSED: nobody has the name. EPERM: another user has. EAGAIN: too much waits there.
int send_letter(std::string_view name, std::span<const std::uint8_t> letter);

class Mailbox {
 public:
  // Without a descriptor it takes no letters.
  Mailbox();
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // From now on letters to that name come here. 0 or errno: EADDRINUSE if another process, or this one, has the name.
  int open(const std::string& name);
  void close(const std::string& name) { doors_.erase(name); }
  // Readable while there are letters; -1: there will be none.
  int fd() const { return event_; }
  std::vector<Letter> take();
  // In a forked child.
  void abandon();

 private:
  class Delivery;

  int event_ = -1;
  std::mutex mutex_;
  std::vector<Letter> letters_;
  std::map<std::string, std::unique_ptr<Door>> doors_;
};

}  // namespace verbs::soft::link
