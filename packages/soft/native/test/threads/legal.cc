#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "test/threads/games.h"
#include "test/threads/own.h"

namespace verbs::soft::test::threads {
namespace {

constexpr std::size_t kLinks = 3;

struct Table {
  std::array<Side, 2> sides;
  std::array<Link, kLinks> links;
  std::atomic<std::uint64_t> words{0};  // of links that were replaced
};

ibv_qp_type any_type(Player& player) {
  static constexpr ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};
  return types[player.below(4)];
}

void set_non_blocking(int fd) { THREADS_CHECK(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0); }

// Events of any completion queue with the channel. It cannot be destroyed before the acknowledgement.
void take_events(Player& player, const Side& side) {
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  if (player.count("ibv_get_cq_event", ibv_get_cq_event(side.channel, &cq, &context))) ibv_ack_cq_events(cq, 1);
  ibv_async_event event{};
  if (player.count("ibv_get_async_event", ibv_get_async_event(side.context, &event))) ibv_ack_async_event(&event);
}

// A child that starts another program, as most do.
void fork_once(Player& player) {
  const pid_t pid = fork();
  if (pid == 0) {
    execl("/bin/true", "true", nullptr);
    _exit(2);
  }
  int status = -1;
  THREADS_CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
  player.count("fork", 0);
}

void replace(Table& table, Link& link, Player& player) {
  const std::lock_guard alone(link.present);
  link.destroy();
  table.words += link.word();
  link.make(table.sides, any_type(player));
  player.count("replace a link", 0);
}

void play(Table& table, Player& player) {
  while (player.playing()) {
    const std::size_t index = player.below(2);
    Side& side = table.sides[index];
    const std::uint32_t choice = player.below(1000);
    if (choice < 1) {
      fork_once(player);
    } else if (choice < 60) {
      use_own_objects(player, side, table.sides[1 - index]);
    } else if (choice < 120) {
      take_events(player, side);
    } else if (choice < 124) {
      replace(table, table.links[player.below(kLinks)], player);
    } else {
      Link& link = table.links[player.below(kLinks)];
      const std::shared_lock present(link.present);
      for (int i = 0; i < 16; ++i) link.act(player);
    }
  }
}

}  // namespace

std::vector<Player> play_legal(const Options& options) {
  static Table table;  // links are not movable
  table.sides = {Side::open("a"), Side::open("b")};
  for (const Side& side : table.sides) {
    set_non_blocking(side.channel->fd);
    set_non_blocking(side.context->async_fd);
  }
  for (std::size_t i = 0; i < kLinks; ++i)
    table.links[i].make(table.sides, i == 0 ? IBV_QPT_RC : i == 1 ? IBV_QPT_UC : IBV_QPT_UD);
  std::vector<Player> players;
  for (int i = 0; i < options.threads; ++i) players.emplace_back(options.seed, i, options.seconds);
  std::vector<std::thread> threads;
  for (Player& player : players) threads.emplace_back([&player] { play(table, player); });
  for (std::thread& thread : threads) thread.join();
  for (Link& link : table.links) {
    link.destroy();
    table.words += link.word();
  }
  // Every addition that completed was executed once, and no other more than once.
  THREADS_CHECK(Link::added <= table.words && table.words <= Link::posted);
  for (Side& side : table.sides) side.close();
  return players;
}

}  // namespace verbs::soft::test::threads
