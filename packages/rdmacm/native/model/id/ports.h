// Which port numbers of which port space are taken, by addresses, as with sockets.
#pragma once

#include <mutex>

#include "model/id/id.h"

namespace verbs::rdmacm::model {

// The lock of the table of ports. No other lock is taken under it.
std::mutex& ports_mutex();
// In the child of a fork: the parent's identifiers hold none here.
void leave_ports_to_parent() noexcept;

// Takes the port of the identifier's source address, or a free one for port 0, which it writes there. 0, EADDRINUSE at
// the same address, EADDRNOTAVAIL if one of the two is every address, or EACCES without the right to a port below 1024.
int take_port(Id& id);
void free_port(Id& id);
// Whether the identifier may listen: no other one has its port at its address. 0 or the errno of take_port().
int check_listen(Id& id);

}  // namespace verbs::rdmacm::model
