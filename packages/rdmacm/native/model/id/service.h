// The service that an identifier listens at, or will: where, and how other processes find it.
#pragma once

#include <memory>
#include <vector>

#include "model/id/id.h"

namespace verbs::rdmacm::model {

verbs_soft_cm_listen_attr listen_attr_of(Id& id);

// The identifier's device, or all of them if it is bound to every address.
std::vector<Device*> devices_of(Id& id);

// 0 or errno, with nothing: another process has the port (Announcement::find_conflict()). nullptr: it cannot announce.
int announce(Id& id, Device& device, Service service, std::unique_ptr<Announcement>* made);

// The program has bound the identifier to a port, and may listen there. 0 or errno.
int announce_bound(Id& id);

// Asks again after a rejection for lack of a service, if there is one by now. True if the answer is still to come.
bool connect_again(Id& id);

}  // namespace verbs::rdmacm::model
