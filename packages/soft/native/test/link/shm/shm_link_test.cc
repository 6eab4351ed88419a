#include "link/shm/shm_link.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <map>
#include <thread>

#include "test/link/support/memory_link.h"
#include "wire/headers.h"

using namespace verbs::soft::link;
using namespace verbs::soft::link::test;
namespace wire = verbs::soft::wire;

namespace {

Nanos virtual_time = 1'000'000'000;
Nanos virtual_clock() { return virtual_time; }

// The names of the sockets are those of the network namespace, which other runs of this test may share.
wire::Gid new_address() {
  static std::uint8_t count = 0;
  wire::Gid gid;
  gid.bytes[0] = 0xfd;
  const auto process = static_cast<std::uint32_t>(getpid());
  std::memcpy(&gid.bytes[8], &process, sizeof process);
  gid.bytes[15] = ++count;
  return gid;
}

struct End {
  explicit End(const wire::Gid& own = new_address()) : address(own) {
    REQUIRE(ShmLink::open(address, next, virtual_clock, &link) == 0);
  }

  Frame frame_to(const wire::Gid& to, std::uint32_t number, std::size_t payload = 32) const {
    wire::Path path;
    path.sgid = address;
    path.dgid = to;
    path.source_port = wire::kRocePort;
    return sealed_frame(path, number, payload);
  }
  void send_to(const End& other, std::uint32_t number, std::size_t payload = 32) {
    send(*link, frame_to(other.address, number, payload));
  }
  // Receives until nothing comes any more.
  std::vector<Frame> receive() {
    Collector collector;
    while (link->prepare_sleep(), link->receive(collector, 64) != 0) {
    }
    return collector.frames;
  }
  bool is_readable() const {
    pollfd entry{link->wait_fd(), POLLIN, 0};
    return poll(&entry, 1, 0) == 1;
  }

  wire::Gid address;
  MemoryLink next;
  std::unique_ptr<ShmLink> link;
};

std::size_t fill(End& from, const End& to) {
  std::size_t count = 0;
  for (; !from.link->congested(to.address); ++count) from.send_to(to, static_cast<std::uint32_t>(count), 4096);
  from.link->flush();
  return count;
}

}  // namespace

TEST_CASE("frames to a process of this host go through memory, all others to the next link") {
  End a, b;
  a.send_to(b, 1);
  a.send_to(b, 2);
  send(*a.link, a.frame_to(new_address(), 3));
  wire::Gid group;
  group.bytes[0] = 0xff;
  send(*a.link, a.frame_to(group, 4));
  send(*a.link, Frame{1, 2, 3});
  a.link->flush();
  CHECK(a.next.sent.size() == 3);
  CHECK(a.link->counters().sent == 2);
  b.next.arriving = {b.frame_to(b.address, 9)};
  const std::vector<Frame> frames = b.receive();
  REQUIRE(frames.size() == 3);
  CHECK(frames[0] == a.frame_to(b.address, 1));
  CHECK(frames[1] == a.frame_to(b.address, 2));
  CHECK(b.link->counters().received == 2);
  // The other direction, and to itself.
  b.send_to(a, 5);
  a.send_to(a, 6);
  b.link->flush();
  a.link->flush();
  CHECK(a.receive().size() == 2);
}

TEST_CASE("an IPv4 address works alike, and what a tunnel sends stays with the next link") {
  const auto process = static_cast<unsigned>(getpid());
  const auto low = static_cast<std::uint8_t>(process), high = static_cast<std::uint8_t>(process >> 8);
  End a(ipv4_gid(10, high, low, 1)), b(ipv4_gid(10, high, low, 2));
  a.send_to(b, 1);
  Frame other_port = a.frame_to(b.address, 2);
  other_port[wire::kIpv4Size + 3] ^= 1;
  send(*a.link, other_port);
  Frame other_protocol = a.frame_to(b.address, 3);
  other_protocol[9] = 47;
  send(*a.link, other_protocol);
  send(*a.link, b.frame_to(b.address, 4));  // another source
  a.link->flush();
  CHECK(a.next.sent.size() == 3);
  CHECK(b.receive() == std::vector<Frame>{a.frame_to(b.address, 1)});
}

TEST_CASE("a frame without its ICRC passes through memory as it is, and gets its ICRC for the next link") {
  End a, b;
  const wire::Gid far = new_address();
  send_unsealed(*a.link, unsealed(a.frame_to(b.address, 1)));
  a.send_to(b, 2);
  send_unsealed(*a.link, unsealed(a.frame_to(far, 3)));
  a.link->flush();
  CHECK(a.next.sent == std::vector<Frame>{a.frame_to(far, 3)});
  FormCollector collector;
  while (b.link->prepare_sleep(), b.link->receive(collector, 64) != 0) {
  }
  CHECK(collector.unsealed == std::vector<Frame>{unsealed(a.frame_to(b.address, 1))});
  CHECK(collector.sealed == std::vector<Frame>{a.frame_to(b.address, 2)});
}

TEST_CASE("frames that wait for room keep their form") {
  End a, b;
  const std::size_t full = fill(a, b);
  send_unsealed(*a.link, unsealed(a.frame_to(b.address, 7)));
  a.link->flush();
  FormCollector collector;
  while (b.link->prepare_sleep(), b.link->receive(collector, 64) != 0) a.link->relieve();
  CHECK(collector.sealed.size() == full);
  CHECK(collector.unsealed == std::vector<Frame>{unsealed(a.frame_to(b.address, 7))});
}

namespace {

// Reads what a frame refers to, as a receiver does.
class Puller final : public Receiver {
 public:
  explicit Puller(std::size_t size) : bytes(size) {}
  void deliver(std::span<const std::uint8_t> /*frame*/) override {}
  void deliver_referring(std::span<const std::uint8_t> frame, SenderMemory& memory) override {
    std::vector<Reference> list((frame.size() - kHead - wire::kIcrcSize) / sizeof(Reference));
    std::memcpy(list.data(), frame.data() + kHead, list.size() * sizeof(Reference));
    if (before_read) before_read();
    const iovec to[2] = {{bytes.data(), 10}, {bytes.data() + 10, bytes.size() - 10}};
    results.push_back(memory.read(to, list));
  }

  static constexpr std::size_t kHead = wire::kIpv6Size + wire::kUdpSize + wire::Bth::kSize;
  std::vector<std::uint8_t> bytes;
  std::vector<bool> results;
  std::function<void()> before_read;
};

void refer(End& from, const End& to, std::vector<Reference> list) {
  Frame frame = from.frame_to(to.address, 1, list.size() * sizeof(Reference));
  std::memcpy(frame.data() + Puller::kHead, list.data(), list.size() * sizeof(Reference));
  std::uint8_t* buffer = from.link->reserve();
  std::copy(frame.begin(), frame.end(), buffer);
  from.link->commit_referring({buffer, frame.size()});
  from.link->flush();
}

Reference reference_to(const void* memory, std::size_t size) {
  return {reinterpret_cast<std::uintptr_t>(memory), size};
}

}  // namespace

TEST_CASE("a receiver copies what a frame refers to from the sender's memory, as long as it is valid") {
  End a, b;
  CHECK_FALSE(a.link->takes_references(a.address, b.address));  // nobody knows yet
  a.send_to(b, 1);
  a.link->flush();
  b.receive();
  REQUIRE(a.link->takes_references(a.address, b.address));
  CHECK_FALSE(a.link->takes_references(b.address, b.address));
  CHECK_FALSE(a.link->takes_references(a.address, new_address()));

  std::vector<std::uint8_t> source(100'000);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::uint8_t>(i * 7);
  Puller puller(source.size());
  refer(a, b, {reference_to(source.data(), 1), reference_to(source.data() + 1, source.size() - 1)});
  b.link->receive(puller, 8);
  CHECK(puller.results == std::vector<bool>{true});
  CHECK(puller.bytes == source);
  CHECK(b.link->counters().pulled == 1);

  SUBCASE("not when it is revoked before") {
    refer(a, b, {reference_to(source.data(), source.size())});
    a.link->revoke_references();
  }
  SUBCASE("not when it is revoked meanwhile") {
    refer(a, b, {reference_to(source.data(), source.size())});
    puller.before_read = [&] { a.link->revoke_references(); };
  }
  SUBCASE("not when the sender is gone") {
    refer(a, b, {reference_to(source.data(), source.size())});
    a.link.reset();
  }
  SUBCASE("not when it is not mapped") {
    void* gone = mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(gone, 8192);
    refer(a, b, {reference_to(gone, source.size())});
  }
  SUBCASE("not when it is only half there") {
    auto* half = static_cast<std::uint8_t*>(mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    munmap(half + 4096, 4096);
    refer(a, b, {reference_to(half + 96, source.size())});
  }
  SUBCASE("not from the kernel") { refer(a, b, {{~std::uint64_t{0} - 99'999, 100'000}}); }
  b.link->receive(puller, 8);
  CHECK(puller.results == std::vector<bool>{true, false});
  CHECK(b.link->counters().unpulled == 1);
}

TEST_CASE("references that wait for room are those of their time") {
  End a, b;
  const std::uint64_t value = 0x1122334455667788;
  const std::size_t full = fill(a, b);
  refer(a, b, {reference_to(&value, sizeof value), reference_to(&value, sizeof value)});
  a.link->revoke_references();
  refer(a, b, {reference_to(&value, sizeof value), reference_to(&value, sizeof value)});
  Puller puller(2 * sizeof value);
  std::size_t received = 0;
  while (b.link->prepare_sleep(), received < full + 2) {
    received += b.link->receive(puller, 64);
    a.link->relieve();
  }
  CHECK(puller.results == std::vector<bool>{false, true});
}

TEST_CASE("a process that does not prove its memory is not read") {
  End b;
  const wire::Gid source = new_address();
  Hello hello = make_hello(source, b.address, PeerProcess::own_proof());
  SUBCASE("other bytes") { hello.proof[3] ^= 1; }
  SUBCASE("no memory") { hello.proof_at = 8; }
  SUBCASE("no bytes") {
    static const Proof zero{};
    hello = make_hello(source, b.address, zero);
  }
  int fd = -1, memory_fd = -1;
  SharedMemory memory;
  REQUIRE(connect_to_peer(b.address, &fd) == 0);
  REQUIRE(SharedMemory::create(kRingMemory, &memory, &memory_fd) == 0);
  REQUIRE(send_hello(fd, hello, memory_fd) == 0);
  close(memory_fd);
  RingWriter writer(memory.data());
  b.receive();
  CHECK_FALSE(writer.reader_pulls());
  // It refers all the same.
  wire::Path path;
  path.sgid = source;
  path.dgid = b.address;
  Frame frame = sealed_frame(path, 1, sizeof(Reference));
  const Reference reference = reference_to(&path, 16);
  std::memcpy(frame.data() + Puller::kHead, &reference, sizeof reference);
  CHECK(writer.write(frame, FrameForm::kReferring));
  writer.publish();
  Puller puller(16);
  b.link->receive(puller, 8);
  CHECK(puller.results == std::vector<bool>{false});
  close(fd);
}

TEST_CASE("a process that comes later is found, one that goes is left, and its successor is found again") {
  const wire::Gid address = new_address();
  End a;
  send(*a.link, a.frame_to(address, 1));
  a.link->flush();
  CHECK(a.next.sent.size() == 1);
  for (std::uint32_t generation = 2; generation < 6; ++generation) {
    virtual_time += 200'000'000;  // past the pause between two looks
    End b(address);
    a.send_to(b, generation);
    a.link->flush();
    CHECK(b.receive().size() == 1);
  }
  CHECK(a.next.sent.size() == 1);
  a.receive();  // sees that the last one is gone
  send(*a.link, a.frame_to(address, 9));
  a.link->flush();
  CHECK(a.next.sent.size() == 2);
}

TEST_CASE("frames of a sender that is gone already still arrive") {
  End b;
  {
    End a;
    for (std::uint32_t i = 0; i < 10; ++i) a.send_to(b, i);
  }
  CHECK(b.receive().size() == 10);
}

TEST_CASE("a peer without room holds only what is for it, and loses nothing") {
  End a, slow, other;
  const std::uint64_t relieved = a.link->relieve();
  const std::size_t count = fill(a, slow);
  CHECK(a.link->congested(slow.address));
  CHECK_FALSE(a.link->congested(other.address));
  CHECK(a.link->next_deadline() == virtual_time + Outgoing::kPatience);
  a.send_to(other, 7);
  a.link->flush();
  CHECK(other.receive().size() == 1);
  CHECK(a.link->relieve() == relieved);

  CHECK_FALSE(a.is_readable());
  std::size_t received = slow.receive().size();
  CHECK(a.is_readable());  // the bell for the room
  a.receive();
  CHECK(a.link->relieve() > relieved);
  CHECK_FALSE(a.link->congested(slow.address));
  CHECK(a.link->next_deadline() == INT64_MAX);
  received += slow.receive().size();
  CHECK(received == count);
  CHECK(a.link->counters().dropped == 0);
}

TEST_CASE("frames for a peer that reads nothing are dropped after a while, until it reads again") {
  End a, stopped;
  fill(a, stopped);
  const std::uint64_t relieved = a.link->relieve();
  virtual_time += Outgoing::kPatience;
  CHECK(a.link->relieve() > relieved);
  CHECK_FALSE(a.link->congested(stopped.address));
  const std::uint64_t dropped = a.link->counters().dropped;
  CHECK(dropped > 0);
  a.send_to(stopped, 1, 4096);
  a.link->flush();
  CHECK(a.link->counters().dropped == dropped + 1);
  CHECK_FALSE(a.link->congested(stopped.address));

  stopped.receive();
  a.send_to(stopped, 77);
  a.link->flush();
  const std::vector<Frame> frames = stopped.receive();
  REQUIRE(frames.size() == 1);
  CHECK(number_of(frames[0]) == 77);
  fill(a, stopped);  // it is patient again
  CHECK(a.link->congested(stopped.address));
}

TEST_CASE("what waits for a peer that goes is dropped") {
  End a;
  {
    End b;
    fill(a, b);
  }
  a.receive();
  CHECK(a.link->next_deadline() == INT64_MAX);
  CHECK(a.link->counters().dropped > 0);
}

TEST_CASE("the socket is readable for a sleeper, and stays quiet for a thread that polls") {
  End a, b;
  a.send_to(b, 1);
  a.link->flush();
  CHECK(b.is_readable());  // a new peer
  b.receive();
  CHECK_FALSE(b.is_readable());
  a.send_to(b, 2);
  a.link->flush();
  CHECK(b.is_readable());
  b.receive();
  CHECK_FALSE(b.is_readable());

  b.link->stay_awake();
  a.send_to(b, 3);
  a.link->flush();
  CHECK_FALSE(b.is_readable());
  Collector collector;
  CHECK(b.link->receive(collector, 10) == 1);
}

TEST_CASE("frames with addresses that are not those of the connection are rejected") {
  End a, b, c;
  a.send_to(b, 1);
  a.link->flush();
  b.receive();
  // A peer that speaks the protocol and lies.
  std::unique_ptr<Outgoing> liar;
  REQUIRE(Outgoing::open(c.address, b.address, &liar) == 0);
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
  const auto connect = [&] {
    int fd = -1;
    REQUIRE(connect_to_peer(b.address, &fd) == 0);
    return fd;
  };
  const auto is_closed = [&](int fd) {
    b.receive();
    pollfd entry{fd, POLLIN, 0};
    const bool closed = poll(&entry, 1, 0) == 1 && (entry.revents & POLLHUP) != 0;
    close(fd);
    return closed;
  };
  const auto hello_with = [&](const Hello& hello, int memory) {
    const int fd = connect();
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
    const int fd = connect();
    ring_bell(fd);  // no hello at all
    CHECK(is_closed(fd));
  }
  const int silent = connect();
  a.send_to(b, 1);
  a.link->flush();
  CHECK(b.receive().size() == 1);
  close(silent);
  CHECK_FALSE(hello_with(hello, memory_of(kRingMemory, kSeals)));
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

TEST_CASE("many threads send to each other and sleep whenever nothing comes") {
  constexpr int kEnds = 4;
  constexpr std::uint32_t kCount = 4000;
  std::vector<std::unique_ptr<End>> ends;
  for (int i = 0; i < kEnds; ++i) ends.push_back(std::make_unique<End>());
  std::atomic<int> lost{0}, wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kEnds; ++i) {
    threads.emplace_back([&, i] {
      End& own = *ends[static_cast<std::size_t>(i)];
      std::map<wire::Gid, std::uint32_t> expected;
      std::uint32_t sent = 0, received = 0;
      const auto congested = [&] {
        return std::any_of(ends.begin(), ends.end(),
                           [&](const auto& end) { return own.link->congested(end->address); });
      };
      while (sent < kCount || received < kCount * (kEnds - 1)) {
        for (int burst = 0; sent < kCount && burst < 7 && !congested(); ++burst, ++sent) {
          for (const auto& to : ends) {
            if (to.get() != &own) own.send_to(*to, sent, 32 + sent % 4000);
          }
        }
        own.link->flush();
        Collector collector;
        own.link->prepare_sleep();
        own.link->receive(collector, 64);
        const std::uint64_t before = own.link->relieve();
        for (const Frame& frame : collector.frames) {
          wrong += number_of(frame) != expected[wire::source_of(frame)]++;
          ++received;
        }
        if (!collector.frames.empty() || (sent < kCount && !congested())) continue;
        if (received == kCount * (kEnds - 1) && before != own.link->relieve()) continue;
        if (received == kCount * (kEnds - 1) && sent == kCount) break;
        pollfd entry{own.link->wait_fd(), POLLIN, 0};
        if (poll(&entry, 1, 20'000) != 1) {
          ++lost;
          return;
        }
      }
      // The others may still wait for room in this end's rings, and this end's last frames for room in theirs.
      while (congested()) own.link->relieve();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(lost == 0);
  CHECK(wrong == 0);
}

// Neither end of a connection may belong to another user, whichever end looks first.
TEST_CASE("another user's process is not connected to" * doctest::skip(geteuid() != 0)) {
  const wire::Gid own = new_address(), theirs = new_address();
  int listener = -1, ready[2];
  REQUIRE(listen_for_peers(own, &listener) == 0);
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    int fd = -1;
    if (setresuid(4242, 4242, 4242) != 0 || listen_for_peers(theirs, &fd) != 0) _exit(1);
    if (connect_to_peer(own, &fd) != EPERM) _exit(2);  // it saw the user, and this end sees it, too
    char byte = 0;
    if (write(ready[1], &byte, 1) != 1) _exit(3);
    pause();
  }
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  int fd = -1;
  CHECK(accept_peer(listener, &fd) == EPERM);
  CHECK(connect_to_peer(theirs, &fd) == EPERM);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  close(listener);
  close(ready[0]);
  close(ready[1]);
}
