#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

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
    REQUIRE(connect_to_peer(b.address, &fd) == 0);
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
    const int with_hello = count();
    b.receive();
    CHECK(count() == with_hello);
    close(fd);
  }
  CHECK(count() == before);
}

TEST_CASE("without free descriptors a new peer uses its next link, and nobody spins") {
  End a, b;
  a.send_to(b, 1);
  a.link->flush();
  rlimit old_limit{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &old_limit) == 0);
  int highest = dup(0);
  close(highest);
  const rlimit no_more{static_cast<rlim_t>(highest), old_limit.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &no_more) == 0);
  const std::size_t received = b.receive().size();
  const bool readable = b.is_readable();
  REQUIRE(setrlimit(RLIMIT_NOFILE, &old_limit) == 0);
  CHECK(received == 0);
  CHECK_FALSE(readable);
  a.receive();  // sees the refusal
  a.send_to(b, 2);
  a.link->flush();
  CHECK(a.next.sent.size() == 1);
  virtual_time += 200'000'000;
  a.send_to(b, 3);
  a.link->flush();
  CHECK(b.receive().size() == 1);
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
