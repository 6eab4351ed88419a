#include "abi/queues/posting.h"

#include "abi/objects/objects.h"

namespace verbs::soft::abi {

namespace {

// A failed call says which request it could not post; a successful one leaves *bad_wr as it is, as the drivers of
// rdma-core do: pyverbs and others read it whatever the result.
template <typename Wr, typename Post>
int post_list(Wr* wr, Wr** bad_wr, Post&& post) {
  Wr* bad = wr;
  const int error = data_path_verb([&] { return post(&bad); });
  if (error != 0 && bad_wr) *bad_wr = bad;
  return error;
}

}  // namespace

// A failed allocation of a model's steering or link ends here.
int poll_cq(ibv_cq* cq, int count, ibv_wc* wc) {
  return contain(
      [&] {
        host::Adapter* adapter = of(cq)->live.adapter.load(std::memory_order_acquire);
        return adapter ? adapter->data_path.poll(of(cq)->live.nic, count, wc) : -EINVAL;
      },
      [](int error) { return -error; });
}

int req_notify_cq(ibv_cq* cq, int solicited_only) {
  return data_path_verb([&] {
    const host::CompletionChannel* channel = of(cq)->events.channel;
    return on_data_path(of(cq),
                        [&](auto& path, auto& nic) { return path.req_notify(nic, solicited_only != 0, channel); });
  });
}

int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
  return post_list(wr, bad_wr, [&](auto** bad) {
    return on_data_path(of(qp), [&](auto& path, auto& nic) { return path.post_send(nic, wr, bad); });
  });
}

int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  return post_list(wr, bad_wr, [&](auto** bad) {
    return on_data_path(of(qp), [&](auto& path, auto& nic) { return path.post_recv(nic, wr, bad); });
  });
}

int post_wq_recv(ibv_wq* wq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  return post_list(wr, bad_wr, [&](auto** bad) {
    return on_data_path(of(wq), [&](auto& path, auto& nic) { return path.post_recv(nic, wr, bad); });
  });
}

int post_srq_recv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  return post_list(wr, bad_wr, [&](auto** bad) {
    return on_data_path(of(srq), [&](auto& path, auto& nic) { return path.post_srq_recv(nic, wr, bad); });
  });
}

int post_srq_ops(ibv_srq* srq, ibv_ops_wr* wr, ibv_ops_wr** bad_wr) {
  return post_list(wr, bad_wr, [&](auto** bad) {
    return on_data_path(of(srq), [&](auto& path, auto& nic) { return path.post_srq_ops(nic, wr, bad); });
  });
}

}  // namespace verbs::soft::abi
