// Objects that both interfaces make: what the write command and the ioctl have in common.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/call.h"

namespace verbs::uverbs {

// A request for a queue pair, from whichever interface.
struct QpRequest {
  std::uint64_t user_handle = 0;
  std::uint32_t type = 0;
  bool has_pd = true;
  std::uint32_t pd = 0;
  bool has_cqs = true;
  std::uint32_t send_cq = 0;
  std::uint32_t recv_cq = 0;
  bool has_srq = false;
  std::uint32_t srq = 0;
  bool has_xrcd = false;
  std::uint32_t xrcd = 0;
  bool has_table = false;
  std::uint32_t table = 0;
  // max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline
  std::vector<std::uint32_t> numbers;
};

struct Reference {
  Type type;
  std::uint32_t handle;
};

// Adds an object that holds `references`; 0 or ENOENT for one that does not exist.
int create(Call& call, Object object, const std::vector<Reference>& references, std::uint32_t& handle);
int create_cq(Call& call, std::uint64_t user_handle, std::uint32_t cqe, int channel_fd, std::uint32_t& handle);
int create_qp(Call& call, const QpRequest& request, std::uint32_t& handle);

// The number that the adapter gave the object with this handle.
std::uint32_t number_of(std::uint32_t handle);
std::uint32_t key_of(std::uint32_t handle);

// A descriptor of the program with the end that events are written to.
struct EventDescriptor {
  int program;
  int writer;
};
EventDescriptor make_event_descriptor();

}  // namespace verbs::uverbs
