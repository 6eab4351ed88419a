#include "test/adversary/adversary.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <random>
#include <span>
#include <thread>

#include "link/doors/local_socket.h"
#include "link/shm/peer_socket.h"
#include "link/shm/ring.h"
#include "wire/bytes.h"
#include "wire/headers.h"
#include "wire/icrc.h"
#include "wire/opcode.h"

namespace verbs::soft::test::adversary {

namespace {

using Clock = std::chrono::steady_clock;
using Random = std::mt19937;

constexpr auto kAttack = std::chrono::milliseconds(20);

std::uint8_t own_memory[64 << 10];

// Random values at random places: the header's fields more often than frames.
void scribble(std::uint8_t* memory, Random& random) {
  const std::uint64_t value =
      random() % 3 == 0 ? random() % (2 * link::kRingCapacity) : std::uint64_t{random()} << 32 | random();
  constexpr std::size_t kFields = offsetof(link::RingHeader, offers);
  std::size_t at = link::kRingOffset + ((random() % (link::kRingCapacity - 8)) & ~7u);
  if (random() % 2 == 0) at = (random() % (random() % 4 == 0 ? sizeof(link::RingHeader) : kFields)) & ~7u;
  std::memcpy(memory + at, &value, random() % 2 == 0 ? 4 : 8);
}

// A packet that looks right up to a random place.
std::size_t random_packet(const wire::Gid& own, const wire::Gid& victim, std::uint8_t* frame, Random& random) {
  wire::Path path;
  path.sgid = own;
  path.dgid = victim;
  path.source_port = wire::kRocePort;
  const std::size_t transport = wire::Bth::kSize + random() % 4100 + wire::kIcrcSize;
  const std::size_t network = wire::write_network(frame, path, transport);
  wire::Bth bth;
  bth.opcode = static_cast<std::uint8_t>(random());
  bth.dest_qpn = random() % 24;
  bth.psn = random() & 0xffffff;
  bth.ack_req = random() % 2 == 0;
  bth.emit(frame + network);
  const std::size_t size = network + transport;
  for (std::size_t i = network + wire::Bth::kSize; i < size; i += 1 + random() % 64) {
    frame[i] = static_cast<std::uint8_t>(random());
  }
  wire::seal_icrc({frame, size});
  for (unsigned damage = random() % 3; damage > 0; --damage)
    frame[random() % size] = static_cast<std::uint8_t>(random());
  return size;
}

// Memory files of all kinds that an offer may name, and what is none.
std::array<int, 5> make_descriptors() {
  constexpr off_t kSize = 64 << 10;
  std::array<int, 5> files{};
  for (std::size_t i = 0; i < files.size(); ++i) {
    files[i] = memfd_create("offer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (ftruncate(files[i], i == 0 ? 4096 : kSize) != 0) std::abort();
    if (i != 1) fcntl(files[i], F_ADD_SEALS, F_SEAL_SHRINK);
  }
  return files;
}

// Memory that the process has, or says that it has: where frames refer to.
void offer(link::RingWriter& writer, const void* memory, Random& random) {
  static const std::array<int, 5> files = make_descriptors();
  link::OfferedMemory::List list{};
  for (link::Offer& place : list) {
    if (random() % 16 != 0) continue;
    place = {.address = reinterpret_cast<std::uintptr_t>(memory),
             .size = 64 << 10,
             .offset = 0,
             .fd = static_cast<std::uint32_t>(random() % 4 == 0 ? random() % 64 : files[random() % files.size()]),
             .id = static_cast<std::uint32_t>(random() % 3)};
    if (random() % 8 == 0) place.address -= random() % 8192;
    if (random() % 8 == 0) place.size = std::uint64_t{random()} << (random() % 32);
    if (random() % 8 == 0) place.offset = std::uint64_t{random()} << (random() % 32);
  }
  if (random() % 8 == 0) ftruncate(files[1], static_cast<off_t>(random() % (64 << 10)));
  writer.set_offers(list);
}

// A WRITE, a SEND or a READ response that refers to memory which is there, which is not, and which is too much.
std::size_t referring_packet(const wire::Gid& own, const Victim& victim, std::uint8_t* frame, Random& random) {
  wire::Path path;
  path.sgid = own;
  path.dgid = victim.gid;
  path.source_port = wire::kRocePort;
  static constexpr wire::Operation kOperations[] = {wire::kWriteOnly, wire::kSendOnly, wire::kReadResponseOnly,
                                                    wire::kReadResponseMiddle};
  const std::uint8_t opcode = wire::make_opcode(wire::Transport::kRc, kOperations[random() % std::size(kOperations)]);
  const wire::OpcodeInfo& info = *wire::opcode_info(opcode);
  const std::size_t header = info.header_size;
  link::Reference list[34];
  std::size_t size = 0;
  const std::size_t count = random() % 4 == 0 ? random() % 34 : 1;
  for (link::Reference& piece : std::span(list, count)) {
    piece = {reinterpret_cast<std::uintptr_t>(own_memory) + random() % 4096, random() % (32 << 10)};
    if (random() % 4 == 0) piece.address = std::uint64_t{random()} << (random() % 32);
    if (random() % 2 == 0) piece.size &= ~std::uint64_t{1023};  // whole packets
    if (random() % 32 == 0) piece.size = std::uint64_t{random()} << (random() % 32);
    size += piece.size;
  }
  const std::size_t transport = header + count * sizeof list[0] + wire::kIcrcSize;
  const std::size_t network = wire::write_network(frame, path, transport);
  wire::Bth bth;
  bth.opcode = opcode;
  // One that started anew has another queue pair.
  bth.dest_qpn = info.has(wire::kIsRequest) ? victim.qpn : victim.qpn + random() % 8;
  bth.psn = random() % 3;
  bth.ack_req = true;
  bth.emit(frame + network);
  if (info.has(wire::kHasAeth)) wire::Aeth{wire::kAckUnlimitedCredits, 1}.emit(frame + network + wire::Bth::kSize);
  if (info.has(wire::kHasReth)) {
    wire::Reth{victim.memory + random() % 4096, victim.rkey, static_cast<std::uint32_t>(size)}.emit(frame + network +
                                                                                                    wire::Bth::kSize);
  }
  std::memcpy(frame + network + header, list, count * sizeof list[0]);
  return network + transport;
}

// A message that may be right, for the memory and the queue pair of the victim, or anything.
std::size_t random_message(const Victim& victim, std::uint8_t* record, Random& random) {
  link::Message message;
  for (std::size_t at = 0; at < sizeof message; ++at) {
    reinterpret_cast<std::uint8_t*>(&message)[at] = static_cast<std::uint8_t>(random());
  }
  static constexpr wire::Operation kOperations[] = {wire::kSendOnly, wire::kSendOnlyImm, wire::kWriteOnly,
                                                    wire::kWriteOnlyImm, wire::kAcknowledge};
  if (random() % 16 != 0) message.opcode = kOperations[random() % std::size(kOperations)];
  if (random() % 16 != 0) message.dest_qpn = victim.qpn + (random() % 8 == 0 ? random() % 8 : 0);
  if (random() % 8 != 0) message.psn = random() % 4;
  if (random() % 2 == 0) message.address = victim.memory + random() % 4096;
  if (random() % 2 == 0) message.rkey = victim.rkey;
  std::memcpy(record, &message, sizeof message);
  const std::size_t size = random() % 16 == 0 ? random() % (wire::kMaxFrame - sizeof message) : random() % 200;
  for (std::size_t at = 0; at < size; ++at) record[sizeof message + at] = static_cast<std::uint8_t>(random());
  return random() % 16 == 0 ? 1 + random() % sizeof message : sizeof message + size;
}

void write_packets(const wire::Gid& own, const Victim& victim, int fd, std::uint8_t* memory, Random& random) {
  link::RingWriter writer(memory);
  std::uint8_t frame[wire::kMaxFrame];
  for (const auto end = Clock::now() + kAttack; Clock::now() < end;) {
    const auto kind = random() % 3;
    const std::size_t size = kind == 0   ? referring_packet(own, victim, frame, random)
                             : kind == 1 ? random_message(victim, frame, random)
                                         : random_packet(own, victim.gid, frame, random);
    const auto form = kind == 0   ? link::FrameForm::kReferring
                      : kind == 1 ? link::FrameForm::kMessage
                                  : static_cast<link::FrameForm>(random() % 4);
    if (random() % 64 == 0) writer.set_epoch(random() % 2);
    if (random() % 64 == 0) offer(writer, own_memory, random);
    if (!writer.write({frame, size}, form, random() % 8 == 0)) usleep(100);
    if (writer.publish()) link::ring_bell(fd);
  }
}

void scribble_for_a_while(int fd, std::uint8_t* memory, Random& random) {
  for (const auto end = Clock::now() + kAttack; Clock::now() < end;) {
    for (int i = 0; i < 100; ++i) scribble(memory, random);
    if (random() % 8 == 0) link::ring_bell(fd);
  }
}

// As a sender.
void attack(const wire::Gid& own, const Victim& victim, Random& random) {
  int fd = -1;
  if (link::connect_to_peer(victim.gid, link::range_of_number(victim.qpn), &fd) != 0) {
    usleep(1000);
    return;
  }
  pollfd invitation{fd, POLLIN, 0};
  if (random() % 8 != 0) poll(&invitation, 1, 1000);
  (void)link::receive_invitation(fd);
  link::SharedMemory memory;
  int memory_fd = -1;
  if (link::SharedMemory::create(link::kRingMemory, &memory, &memory_fd) == 0) {
    link::Hello hello = link::make_hello(own, victim.gid, link::PeerProcess::own_proof());
    if (random() % 8 == 0) reinterpret_cast<std::uint8_t*>(&hello)[random() % sizeof hello] ^= 1;
    if (random() % 8 == 0) link::ring_bell(fd);
    (void)link::send_hello(fd, hello, memory_fd);
    close(memory_fd);
    if (random() % 2 == 0) write_packets(own, victim, fd, memory.data(), random);
    if (random() % 4 != 0) scribble_for_a_while(fd, memory.data(), random);
  }
  close(fd);
}

// As a receiver: nothing that the victim reads back is what a receiver writes.
void receive(const wire::Gid& own, Random random) {
  int listener = -1;
  if (link::listen_at(link::name_of_peer(own, link::kAnyRange), &listener) != 0) std::abort();
  while (true) {
    pollfd entry{listener, POLLIN, 0};
    poll(&entry, 1, 1000);
    int fd = -1;
    if (link::accept_own_user(listener, &fd) != 0 || fd < 0) continue;
    if (random() % 8 != 0) (void)link::send_invitation(fd);
    link::Hello hello;
    int memory_fd = -1;
    pollfd first{fd, POLLIN, 0};
    poll(&first, 1, 100);
    if (link::receive_hello(fd, &hello, &memory_fd) == 0) {
      link::SharedMemory memory;
      if (link::SharedMemory::map(memory_fd, link::kRingMemory, &memory) == 0) {
        scribble_for_a_while(fd, memory.data(), random);
      }
      close(memory_fd);
    }
    close(fd);
  }
}

}  // namespace

pid_t start(const wire::Gid& own, const std::vector<Victim>& victims, std::uint32_t seed) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  std::thread receiver(receive, own, Random(seed));
  Random random(seed + 1);
  while (true) attack(own, victims[random() % victims.size()], random);
}

}  // namespace verbs::soft::test::adversary
