#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "link/shm/shm_link.h"
#include "test/link/shm/shm_end.h"

using namespace verbs::soft::link;
using namespace verbs::soft::link::test;
namespace wire = verbs::soft::wire;

TEST_CASE("no descriptor stays behind") {
  const auto count = [] {
    int open_ones = 0;
    for (int fd = 0; fd < 256; ++fd) open_ones += fcntl(fd, F_GETFD) >= 0;
    return open_ones;
  };
  const int before = count();
  {
    End a, b;
    for (int i = 0; i < 3; ++i) {
      End c;
      a.send_to(b, 1);
      c.send_to(b, 1);
      a.send_to(c, 1);
      a.link->flush();
      c.link->flush();
      b.receive();
      c.receive();
    }
    b.receive();
    // A hello with more descriptors than one.
    int fd = -1;
    fd = invited_to(b.address);
    REQUIRE(fd >= 0);
    Hello hello = make_hello(a.address, b.address, PeerProcess::own_proof());
    iovec piece{&hello, sizeof hello};
    int many[3] = {fd, fd, fd};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof many)] = {};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    cmsghdr* control = CMSG_FIRSTHDR(&message);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof many);
    std::memcpy(CMSG_DATA(control), many, sizeof many);
    REQUIRE(sendmsg(fd, &message, 0) == sizeof hello);
    pollfd entry{fd, POLLIN, 0};
    CHECK(poll(&entry, 1, 5000) == 1);  // hung up on
    close(fd);
  }
  CHECK(eventually([&] { return count() == before; }));
}

TEST_CASE("without free descriptors a new peer uses its next link, and nobody spins") {
  End a, b;
  rlimit old_limit{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &old_limit) == 0);
  a.link->congested(b.address, 17);  // has connected
  int highest = dup(0);
  close(highest);
  const rlimit no_more{static_cast<rlim_t>(highest), old_limit.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &no_more) == 0);
  for (int i = 0; i < 100; ++i) {
    send(*a.link, a.frame_to(b.address, 1));
    a.link->flush();
    a.receive();
    CHECK(b.receive().empty());
    usleep(1000);
  }
  const bool readable = b.is_readable();
  REQUIRE(setrlimit(RLIMIT_NOFILE, &old_limit) == 0);
  CHECK_FALSE(readable);
  CHECK(a.next.sent.size() == 100);
  virtual_time += 200'000'000;
  a.send_to(b, 3);
  a.link->flush();
  CHECK(b.receive().size() == 1);
}

// ftruncate() beyond the limit would end this program by SIGXFSZ.
TEST_CASE("a process whose files may not be as large as a ring uses its next link") {
  End a, b;
  rlimit old_limit{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  const rlimit small{kRingMemory - 1, old_limit.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  SharedMemory memory;
  int fd = -1;
  CHECK(SharedMemory::create(kRingMemory, &memory, &fd) == EFBIG);
  for (std::uint32_t i = 0; i < 20; ++i) {
    send(*a.link, a.frame_to(b.address, i));
    a.link->flush();
    a.receive();
    usleep(1000);
  }
  REQUIRE(setrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  CHECK(a.next.sent.size() == 20);
  CHECK(b.receive().empty());
  virtual_time += 200'000'000;
  a.send_to(b, 1);
}

TEST_CASE("a forked child can end the links that it inherits, and its parent's go on") {
  End a, b;
  a.send_to(b, 1);
  b.send_to(a, 2);
  a.link->flush();
  b.link->flush();
  a.receive();
  b.receive();
  a.send_to(b, 3);
  const pid_t child = fork();
  if (child == 0) {
    for (End* end : {&a, &b}) {
      end->link->abandon();
      end->link.reset();
    }
    _exit(0);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  a.link->flush();
  CHECK(b.receive() == std::vector<Frame>{a.frame_to(b.address, 3)});
}

TEST_CASE("a forked child leaves the connections to the parent") {
  End a, b;
  a.send_to(b, 1);
  a.link->flush();
  b.receive();
  int go[2];
  REQUIRE(pipe(go) == 0);
  const pid_t child = fork();
  if (child == 0) {
    a.link->abandon();
    b.link->abandon();
    close(go[1]);
    char byte = 0;
    (void)!read(go[0], &byte, 1);  // until the parent has looked
    _exit(0);
  }
  close(go[0]);
  a.send_to(b, 2);
  a.link->flush();
  CHECK(b.receive().size() == 1);
  a.link.reset();
  b.receive();
  CHECK_FALSE(b.is_readable());
  close(go[1]);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}
