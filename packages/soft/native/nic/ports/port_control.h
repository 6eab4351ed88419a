// What happens to a port, or to the whole device, while it runs. nic.h says what each call means.
#pragma once

#include "nic/device/core.h"

namespace verbs::soft::nic {

int set_link(Core& core, std::uint8_t port_num, bool up);
int add_gid(Core& core, std::uint8_t port_num, const wire::Gid& gid, std::uint32_t* index);
int remove_gid(Core& core, std::uint8_t port_num, const wire::Gid& gid);
int set_mtu(Core& core, std::uint8_t port_num, ibv_mtu mtu);
void fail(Core& core);

}  // namespace verbs::soft::nic
