#include "test/processes/peer.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace verbs::soft::test::processes {

namespace {

constexpr int kHang = 60'000;  // milliseconds

struct Order {
  Command command;
  Address other;
};

struct Answer {
  int status;
  Address address;
};

ibv_wc_status obey(const Order& order, std::unique_ptr<Endpoint>* endpoint) {
  switch (order.command) {
    case Command::kConnect:
      (*endpoint)->connect(order.other);
      return IBV_WC_SUCCESS;
    case Command::kWriteSome:
      return (*endpoint)->write(100);
    case Command::kWriteForever:
      return (*endpoint)->write(0);
    case Command::kReadSome:
      return (*endpoint)->read(100);
    case Command::kReadForever:
      return (*endpoint)->read(0);
    case Command::kUnmap:
      (*endpoint)->unmap();
      return IBV_WC_SUCCESS;
    case Command::kUnmapAndWrite:
      (*endpoint)->unmap();
      return (*endpoint)->write(0);
    case Command::kUnmapAndRead:
      (*endpoint)->unmap();
      return (*endpoint)->read(0);
    case Command::kStartAnew:
      *endpoint = std::make_unique<Endpoint>();
      return IBV_WC_SUCCESS;
  }
  return IBV_WC_GENERAL_ERR;
}

[[noreturn]] void run(int socket) {
  try {
    auto endpoint = std::make_unique<Endpoint>();
    Answer answer{IBV_WC_SUCCESS, endpoint->address()};
    Order order;
    do {
      if (write(socket, &answer, sizeof answer) != sizeof answer) break;
      if (read(socket, &order, sizeof order) != sizeof order) break;
      answer.status = obey(order, &endpoint);
      answer.address = endpoint->address();
    } while (true);
    endpoint.reset();
    std::exit(0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "a peer ends: %s\n", error.what());
    std::exit(1);
  }
}

}  // namespace

Peer::Peer() {
  int sockets[2];
  require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0, "no socket");
  pid_ = fork();
  require(pid_ >= 0, "no process");
  if (pid_ == 0) {
    close(sockets[0]);
    run(sockets[1]);
  }
  close(sockets[1]);
  socket_ = sockets[0];
  answer();
}

Peer::~Peer() {
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  close(socket_);
}

void Peer::send(Command command, const Address& other) const {
  const Order order{command, other};
  require(::send(socket_, &order, sizeof order, MSG_NOSIGNAL) == sizeof order, "the process does not listen");
}

ibv_wc_status Peer::answer() {
  pollfd entry{socket_, POLLIN, 0};
  require(poll(&entry, 1, kHang) == 1, "a process does not answer");
  Answer answer;
  require(read(socket_, &answer, sizeof answer) == sizeof answer, "a process has ended");
  address_ = answer.address;
  return static_cast<ibv_wc_status>(answer.status);
}

bool Peer::has_answer() const {
  pollfd entry{socket_, POLLIN, 0};
  return poll(&entry, 1, 0) == 1;
}

void Peer::kill() const { ::kill(pid_, SIGKILL); }
void Peer::stop() const {
  ::kill(pid_, SIGSTOP);
  // On a busy machine it may run on for a while.
  siginfo_t info;
  require(waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED) == 0, "a process does not stop");
}
void Peer::go_on() const { ::kill(pid_, SIGCONT); }

bool Peer::alive() const { return waitpid(pid_, nullptr, WNOHANG) == 0; }

}  // namespace verbs::soft::test::processes
