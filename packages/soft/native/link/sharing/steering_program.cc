#include "link/sharing/steering_program.h"

#include <linux/filter.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace verbs::soft::link {
namespace {

constexpr std::size_t kMostInstructions = 4096;  // of the kernel
constexpr std::uint32_t kNowhere = 0xffffffff;

constexpr sock_filter statement(std::uint16_t code, std::uint32_t value) { return {code, 0, 0, value}; }
constexpr sock_filter jump(std::uint16_t test, std::uint32_t value, std::uint8_t if_so, std::uint8_t if_not) {
  return {static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), if_so, if_not, value};
}
constexpr sock_filter load(std::uint16_t size, std::size_t offset) {
  return statement(static_cast<std::uint16_t>(BPF_LD | size | BPF_ABS), static_cast<std::uint32_t>(offset));
}

}  // namespace

int attach_program(int socket, const std::map<Range, Place>& places, std::size_t count) {
  const auto any = static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_RANDOM);
  std::vector<sock_filter> program{
      load(BPF_W, 4),
      statement(BPF_ALU | BPF_AND | BPF_K, 0xffffff),
      jump(BPF_JGE, 17, 14, 0),
      jump(BPF_JEQ, 0, 0, 2),
      load(BPF_W, kProbePlace),
      statement(BPF_RET | BPF_A, 0),
      load(BPF_H, mad::kOffset + mad::kAttribute),
      jump(BPF_JEQ, mad::kReq, 1, 0),
      jump(BPF_JEQ, mad::kSidrReq, 0, 3),
      load(BPF_W, any),
      statement(BPF_ALU | BPF_MOD | BPF_K, static_cast<std::uint32_t>(std::max<std::size_t>(count, 1))),
      statement(BPF_RET | BPF_A, 0),
      // The other messages name their connection.
      jump(BPF_JEQ, mad::kSidrRep, 0, 2),
      load(BPF_W, mad::kOffset + mad::kRequestId),
      statement(BPF_JMP | BPF_JA, 3),
      load(BPF_W, mad::kOffset + mad::kRemoteId),
      statement(BPF_JMP | BPF_JA, 1),
      statement(BPF_ALU | BPF_LSH | BPF_K, 8),  // a queue pair number has its range 8 bits further down
      statement(BPF_ALU | BPF_RSH | BPF_K, 20),
  };
  for (const auto& [range, place] : places) {
    if (program.size() + 3 > kMostInstructions) break;
    program.push_back(jump(BPF_JEQ, range, 0, 1));
    program.push_back(statement(BPF_RET | BPF_K, place));
  }
  program.push_back(statement(BPF_RET | BPF_K, kNowhere));
  const sock_fprog attached{static_cast<unsigned short>(program.size()), program.data()};
  const bool done = setsockopt(socket, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &attached, sizeof attached) == 0;
  return done ? 0 : errno;
}

}  // namespace verbs::soft::link
