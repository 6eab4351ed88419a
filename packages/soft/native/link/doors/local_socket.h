// Sockets by which processes of one host reach each other without a file: abstract Unix sockets, whose names are those
// of the network namespace.
//
// They have no permissions. Any user connects to them, takes their names, and sends descriptors, the last close() of
// which may sleep as long as their sender likes (a TCP socket that lingers). So both ends look at the other's user, as
// the kernel tells it; no socket takes descriptors (SO_PASSRIGHTS, Linux 6.16) but one that has been told to expect
// them of this user; and what an older kernel may have put into a socket is closed by another thread (closer.h).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace verbs::soft::link {

// All calls return 0 or errno, do not block, and make descriptors that close at exec.

// The name, for this process alone: nobody reaches it there. EADDRINUSE: another socket has the name.
int take_name(std::string_view name, int* fd);
// EADDRINUSE: another socket has the name.
int listen_at(std::string_view name, int* fd);
// ECONNREFUSED: nobody listens there. EPERM: another user does. EAGAIN: too many wait there to be accepted.
int connect_to(std::string_view name, int* fd);
// EAGAIN: nobody waits to be accepted. *fd is -1 if another user did, who was hung up on.
int accept_own_user(int listener, int* fd);

// Whether the other end's process was of this user when it connected, or began to listen.
bool is_own_user(int fd);

// From now on the socket takes descriptors. (Before Linux 6.16 each one does.)
void take_descriptors(int fd);
// … no more, and what has come without being taken is lost. False: descriptors have.
bool take_no_more_descriptors(int fd);

// What has come: EAGAIN if nothing has, EPROTO if descriptors are with it, ECONNRESET. At the end *size is 0.
int receive(int fd, std::span<std::uint8_t> to, std::size_t* size);
// What was sent as one piece with one descriptor, which the caller closes. EPROTO: what has come is something else.
int receive_with_descriptor(int fd, std::span<std::uint8_t> to, int* descriptor);
int send_with_descriptor(int fd, std::span<const std::uint8_t> from, int descriptor);

// Close a local socket: here if nothing in it can make that sleep, else elsewhere. The other end notices at once.
void hang_up(int fd);
// … with those who wait to be accepted.
void close_listener(int fd);

}  // namespace verbs::soft::link
