// A process with an endpoint that does as it is told.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "test/processes/endpoint.h"

namespace verbs::soft::test::processes {

// What a peer can be told. Each answers with a status.
enum class Command : int {
  kConnect,        // with the address of the other
  kWriteSome,      // a hundred requests
  kWriteForever,   // until one fails; answers then
  kUnmap,          // its memory, under the region
  kUnmapAndWrite,  // its memory, then requests from it
  kStartAnew,      // a new endpoint: proof that the process and its device are well. Answers with its address
};

class Peer {
 public:
  // Starts the process, before this one has used a device.
  Peer();
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  const Address& address() const { return address_; }
  void tell(Command command, const Address& other = {}) const;
  // The answer to the oldest command that is not answered. Throws if it takes longer than only a hang can, or if the
  // process has ended.
  ibv_wc_status answer();
  ibv_wc_status ask(Command command, const Address& other = {}) {
    tell(command, other);
    return answer();
  }
  void kill() const;
  bool alive() const;

 private:
  pid_t pid_ = -1;
  int socket_ = -1;
  Address address_{};
};

}  // namespace verbs::soft::test::processes
