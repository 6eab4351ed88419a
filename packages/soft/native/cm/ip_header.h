// The IP addressing header at the start of a request's private data (IBTA annex A11): by which addresses and port a
// program chose its peer.
#pragma once

#include <cstdint>
#include <span>

#include "verbs_soft_cm.h"
#include "wire/gid.h"

namespace verbs::soft::cm {

// False unless the bytes begin with such a header, and the addresses are of the version that it names.
bool parse_ip_header(std::span<const std::uint8_t> bytes, verbs_soft_cm_ip* ip);
// Writes VERBS_SOFT_CM_IP_HEADER bytes.
void emit_ip_header(const verbs_soft_cm_ip& ip, std::uint8_t* bytes);

}  // namespace verbs::soft::cm
