#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "link/doors/local_socket.h"
#include "link/shm/shm_link.h"
#include "test/link/shm/shm_end.h"

using namespace verbs::soft::link;
using namespace verbs::soft::link::test;
namespace wire = verbs::soft::wire;

TEST_CASE("a process that comes later is found, one that goes is left, and its successor is found again") {
  const wire::Gid address = new_address();
  End a;
  send(*a.link, a.frame_to(address, 1));
  a.link->flush();
  CHECK(a.next.sent.size() == 1);
  for (std::uint32_t generation = 2; generation < 6; ++generation) {
    virtual_time += 200'000'000;  // past the pause between two looks
    End b(address);
    send(*a.link, a.frame_to(address, generation));  // does not wait for its response
    a.link->flush();
    CHECK(a.next.sent.size() == generation);
    a.send_to(b, generation);
    a.link->flush();
    CHECK(b.receive().size() == 1);
  }
  CHECK(a.next.sent.size() == 5);
  a.receive();  // sees that the last one is gone
  send(*a.link, a.frame_to(address, 9));
  a.link->flush();
  CHECK(a.next.sent.size() == 6);
}

TEST_CASE("frames of a sender that is gone already still arrive") {
  End b;
  {
    End a;
    for (std::uint32_t i = 0; i < 10; ++i) a.send_to(b, i);
  }
  CHECK(b.receive().size() == 10);
}

TEST_CASE("frames with addresses that are not those of the connection are rejected") {
  End a, b, c;
  a.send_to(b, 1);
  a.link->flush();
  b.receive();
  // A peer that speaks the protocol and lies.
  std::unique_ptr<Outgoing> liar;
  REQUIRE(Outgoing::open(invited_to(b.address), c.address, b.address, &liar) == 0);
  REQUIRE(eventually([&] { return b.is_readable(); }));
  liar->send(a.frame_to(b.address, 2), FrameForm::kSealed, virtual_clock);
  liar->send(c.frame_to(a.address, 3), FrameForm::kSealed, virtual_clock);
  liar->send(Frame{1, 2, 3}, FrameForm::kSealed, virtual_clock);
  liar->send(c.frame_to(b.address, 4), FrameForm::kSealed, virtual_clock);
  liar->flush();
  CHECK(b.receive() == std::vector<Frame>{c.frame_to(b.address, 4)});
  CHECK(b.link->counters().rejected == 3);
}

TEST_CASE("a connection with a wrong hello, or without its memory, is closed, and others work") {
  End a, b;
  const auto is_closed = [&](int fd) {
    pollfd entry{fd, POLLIN, 0};
    const bool closed = eventually([&] {
      b.receive();
      return poll(&entry, 1, 0) == 1 && (entry.revents & POLLHUP) != 0;
    });
    close(fd);
    return closed;
  };
  const auto hello_with = [&](const Hello& hello, int memory) {
    const int fd = invited_to(b.address);
    CHECK(send_hello(fd, hello, memory) == 0);
    close(memory);
    return is_closed(fd);
  };
  const auto memory_of = [](std::size_t size, int seals) {
    const int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    REQUIRE(ftruncate(fd, static_cast<off_t>(size)) == 0);
    REQUIRE(fcntl(fd, F_ADD_SEALS, seals) == 0);
    return fd;
  };
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;
  const Hello hello = make_hello(a.address, b.address, PeerProcess::own_proof());

  CHECK(hello_with(hello, memory_of(kRingMemory, F_SEAL_GROW)));  // it could shrink under the reader
  CHECK(hello_with(hello, memory_of(kRingMemory - 1, kSeals)));
  CHECK(hello_with(hello, memory_of(kRingMemory, kSeals | F_SEAL_WRITE)));
  CHECK(hello_with(hello, open("/dev/zero", O_RDWR | O_CLOEXEC)));
  CHECK(hello_with(make_hello(a.address, a.address, PeerProcess::own_proof()), memory_of(kRingMemory, kSeals)));
  Hello other_version = hello;
  other_version.magic[7] ^= 1;
  CHECK(hello_with(other_version, memory_of(kRingMemory, kSeals)));
  {
    const int fd = invited_to(b.address);
    ring_bell(fd);  // no hello at all
    CHECK(is_closed(fd));
  }
  const int silent = invited_to(b.address);
  a.send_to(b, 1);
  a.link->flush();
  CHECK(b.receive().size() == 1);
  close(silent);
  const int good = invited_to(b.address);
  const int memory = memory_of(kRingMemory, kSeals);
  CHECK(send_hello(good, hello, memory) == 0);
  close(memory);
  CHECK(eventually([&] { return b.is_readable(); }));
  b.receive();
  pollfd entry{good, POLLIN, 0};
  CHECK(poll(&entry, 1, 100) == 0);
  close(good);
}

// Neither end of a connection may belong to another user, whichever end looks first.
TEST_CASE("another user's process is not connected to" * doctest::skip(geteuid() != 0)) {
  const wire::Gid own = new_address(), theirs = new_address();
  int listener = -1, ready[2];
  REQUIRE(listen_at(name_of_peer(own, kAnyRange), &listener) == 0);
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    int fd = -1;
    if (setresuid(4242, 4242, 4242) != 0 || listen_at(name_of_peer(theirs, kAnyRange), &fd) != 0) _exit(1);
    if (connect_to_peer(own, kAnyRange, &fd) != EPERM) _exit(2);  // it saw the user, and this end sees it, too
    char byte = 0;
    if (write(ready[1], &byte, 1) != 1) _exit(3);
    pause();
  }
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  int fd = 0;
  CHECK(accept_own_user(listener, &fd) == 0);
  CHECK(fd == -1);
  CHECK(connect_to_peer(theirs, kAnyRange, &fd) == EPERM);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  close(listener);
  close(ready[0]);
  close(ready[1]);
}
