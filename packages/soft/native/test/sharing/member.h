// One of several processes at one address. Each has a reliable connection with every other one, and sends and receives
// numbered messages, the bytes of which say who sent which message to whom.
#pragma once

#include <infiniband/verbs.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace verbs::soft::test::sharing {

inline constexpr int kMembers = 10;

struct Address {
  std::uint32_t qpn = 0;
  ibv_gid gid{};
};

// Where a process is.
struct Host {
  std::string configuration;
  int network = -1;        // a network namespace, unless it is this process' own
  bool contained = false;  // in a PID namespace of its own, in which it is process 1
};

inline void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

class Member {
 public:
  // Starts the process, which is the `place`th one, on that host.
  Member(int place, const Host& host);
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  // Makes a queue pair for the connection with the member at that place; destroys an earlier one.
  Address make(int other);
  // `stamp`: of all messages of the connection, which both ends know.
  void connect(int other, const Address& address, std::uint32_t stamp);
  // Sends `count` messages to each of the members that `others` has bits of, and receives as many. Answers later.
  void exchange(unsigned others, int count);
  // The answer to exchange(): the members with whom it failed. Throws after a time that only a hang can take.
  unsigned finish();
  std::uint64_t counter(const std::string& name);
  void kill();
  void stop();
  void go_on();

 private:
  pid_t pid_ = -1;
  int socket_ = -1;
};

}  // namespace verbs::soft::test::sharing
