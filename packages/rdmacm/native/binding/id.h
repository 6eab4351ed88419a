// rdma_cm_id.
#pragma once

#include <memory>
#include <vector>

#include "binding/channel.h"

namespace verbs::rdmacm::binding {

class Id final : public Child {
 public:
  static constexpr char kType = 0;
  // Owns `id`.
  Id(const Library& library, std::shared_ptr<Environment> environment, rdma_cm_id* id);
  ~Id() override;

  const Library& library() const { return library_; }
  rdma_cm_id* get() const { return id_; }
  double key() const { return key_; }

  // Makes the identifier a child of its channel: { handle, key }.
  static Napi::Value wrap(Napi::Env env, const Library& library, rdma_cm_id* id, const Taken<Channel>& channel);

  // Multicast groups that it has joined: the queue pair cannot be destroyed while it is in one.
  void joined(const sockaddr_storage& group) { groups_.push_back(group); }
  void left(const sockaddr_storage& group);
  // rdma_destroy_qp, after it has left the groups.
  void destroy_qp();

 private:
  int release() override;

  const Library& library_;
  std::shared_ptr<Environment> environment_;
  rdma_cm_id* id_;
  const double key_;
  std::vector<sockaddr_storage> groups_;
};

}  // namespace verbs::rdmacm::binding
