// A process with an endpoint that executes commands.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "test/processes/endpoint.h"

namespace verbs::soft::test::processes {

// The commands. A peer replies to each with a status.
enum class Command : int {
  kConnect,       // with the address of the other
  kWriteSome,     // a hundred requests
  kWriteForever,  // until one fails; answers then
  kReadSome,
  kReadForever,
  kUnmap,          // its memory, under the region
  kUnmapAndWrite,  // its memory, then requests from it
  kUnmapAndRead,
  kStartAnew,  // a new endpoint: proof that the process and its device are well. Answers with its address
};

class Peer {
 public:
  // Starts the process, before this one has used a device.
  Peer();
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  const Address& address() const { return address_; }
  void send(Command command, const Address& other = {}) const;
  // The reply to the oldest command without a reply. Throws if it takes longer than only a hang can, or if the
  // process has ended.
  ibv_wc_status answer();
  ibv_wc_status ask(Command command, const Address& other = {}) {
    send(command, other);
    return answer();
  }
  bool has_answer() const;
  void kill() const;
  void stop() const;   // SIGSTOP, and waits for it
  void go_on() const;  // SIGCONT
  bool alive() const;

 private:
  pid_t pid_ = -1;
  int socket_ = -1;
  Address address_{};
};

}  // namespace verbs::soft::test::processes
