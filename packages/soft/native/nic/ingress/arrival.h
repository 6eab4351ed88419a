// The first look at a frame: by which way it came, and whether the queue pair that it names takes packets that way.
#pragma once

#include <optional>
#include <span>

#include "nic/device/core.h"

namespace verbs::soft::nic {

// The frame, out of its tunnel if it came by one that is open on the port. nullopt if it is no RoCE v2 packet, or if
// its queue pair does not agree with the way it came: a tunnel counts only where both ends have it.
std::optional<wire::FrameView> unwrap(const Core& core, const Port& port, std::span<const std::uint8_t> frame);

// Whether an RC packet comes from where the QP is connected to. The outer source address of a tunnel is the sender's
// choice, so it is not compared there.
bool from_peer(const Qp& qp, bool request, const wire::Path& path);

}  // namespace verbs::soft::nic
