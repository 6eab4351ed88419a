// Two ends on mlx5_soft0 with RAW_PACKET queue pairs, through the exported libibverbs.
#pragma once

#include <doctest/doctest.h>
#include <string.h>

// Uses string.h without including it.
#include <infiniband/mlx5dv.h>

#include <cerrno>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

// What headers before release 54 and 63 do not declare.
extern "C" {
ibv_mr* mlx5dv_reg_dmabuf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t length, std::uint64_t iova, int fd,
                             int access, int mlx5_access);
int mlx5dv_devx_obj_export(mlx5dv_devx_obj* obj, void* data);
mlx5dv_devx_obj* mlx5dv_devx_obj_import(ibv_context* context, void* data);
void mlx5dv_devx_obj_unimport(mlx5dv_devx_obj* obj);
void _mlx5dv_get_export_sizes(struct mlx5dv_export_sizes* sizes, std::size_t size);
}

namespace verbs::mlx5::test {

using Bytes = std::vector<std::uint8_t>;

// Bytes from hexadecimal digits; blanks are ignored.
Bytes hex(const std::string& digits);

// Match parameters with these bytes at their offsets.
struct Field {
  std::size_t at;
  Bytes bytes;
};
class Parameters {
 public:
  explicit Parameters(std::initializer_list<Field> fields = {}, std::size_t size = 0x180);
  operator mlx5dv_flow_match_parameters*() { return reinterpret_cast<mlx5dv_flow_match_parameters*>(words_.data()); }

 private:
  std::vector<std::uint64_t> words_;
};

// A context with a queue pair in RTS. Objects that a test does not close are destroyed with the context.
class End {
 public:
  explicit End(const char* device = "mlx5_soft0");
  ~End();
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  ibv_qp* add_qp();
  void post_receive(ibv_qp* on = nullptr);
  void send(const Bytes& frame, unsigned flags = 0);
  // The next received frame; empty if none arrives.
  Bytes receive();
  // The queue pair that received the last frame, its tag and the other fields of its completion.
  std::uint32_t qp_num = 0, flow_tag = 0, wc_flags = 0;

  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_qp* qp = nullptr;

 private:
  ibv_cq* send_cq_ = nullptr;
  ibv_cq_ex* receive_cq_ = nullptr;
  Bytes memory_;
  ibv_mr* mr_ = nullptr;
  std::uint64_t posted_ = 0;
};

// A matcher with the mask, destroyed with this object.
struct FlowMatcherCloser {
  void operator()(mlx5dv_flow_matcher* matcher) const { mlx5dv_destroy_flow_matcher(matcher); }
};
using FlowMatcher = std::unique_ptr<mlx5dv_flow_matcher, FlowMatcherCloser>;
FlowMatcher make_matcher(ibv_context* context, Parameters& mask, bool egress = false, std::uint16_t priority = 0,
                         std::uint8_t criteria = 1);

mlx5dv_flow_action_attr to_qp(ibv_qp* qp);
mlx5dv_flow_action_attr by_action(ibv_flow_action* action);
mlx5dv_flow_action_attr of_type(mlx5dv_flow_action_type type);
mlx5dv_flow_action_attr with_tag(std::uint32_t tag);
mlx5dv_flow_action_attr count_with(mlx5dv_devx_obj* counter);
ibv_flow* make_flow(mlx5dv_flow_matcher* matcher, Parameters& value, std::vector<mlx5dv_flow_action_attr> actions);

mlx5dv_devx_obj* make_counter(ibv_context* context, std::uint32_t* id, std::uint8_t log_bulk = 0);
struct Count {
  std::uint64_t packets, bytes;
};
Count read_counter(mlx5dv_devx_obj* counter, std::uint32_t id);
// The bytes of an exported object: mlx5dv_export_sizes.
Bytes export_of(mlx5dv_devx_obj* object);

// The frame of the worked examples, 100 bytes: UDP from 1.1.1.1 to 2.2.2.2, to a multicast address.
Bytes example_frame();
inline const Bytes kSmac = {0x24, 0x8a, 0x07, 0xa5, 0x28, 0xc8};
inline const Bytes kAllOnes = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

// The errno of a call that returned a null pointer; 0 otherwise.
#define ERRNO_OF(call) (errno = 0, (call) != nullptr ? 0 : errno)

}  // namespace verbs::mlx5::test
