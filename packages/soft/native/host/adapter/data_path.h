// Posting, polling and arming: the calls that run for every work request. They return 0 or an errno value.
//
// The object is read under the device's lock: another thread may destroy it meanwhile. nullptr gives EINVAL.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>

#include "host/adapter/device_core.h"
#include "host/events/completion_channel.h"

namespace verbs::soft::host {

class DataPath {
 public:
  using Cq = const std::atomic<nic::Cq*>&;
  using Qp = const std::atomic<nic::Qp*>&;
  using Srq = const std::atomic<nic::Srq*>&;

  explicit DataPath(DeviceCore& core) : core_(core) {}

  int poll(Cq cq, int count, ibv_wc* wc);  // as ibv_poll_cq: the number of completions, or a negative errno
  // One completion; ENOENT when there is none. The first call of a series makes progress to get one.
  int first_completion(Cq cq, nic::Completion* completion);
  int next_completion(Cq cq, nic::Completion* completion);
  int post_send(Qp qp, ibv_send_wr* wr, ibv_send_wr** bad_wr);
  // All of the requests or, with an error, none.
  int post_batch(Qp qp, ibv_send_wr* wr);
  // Says why ibv_wr_complete() refuses what the calls before it have collected.
  void refuse_batch(Qp qp, int error);
  int post_recv(Qp qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr);
  int post_srq_recv(Srq srq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr);
  int post_srq_ops(Srq srq, ibv_ops_wr* wr, ibv_ops_wr** bad_wr);
  // As a poll of an empty queue, for a program that waits for something else. 0, or EIO in a forked child.
  int progress();
  int req_notify(Cq cq, bool solicited_only, const CompletionChannel* channel);

 private:
  void progress_for(nic::Cq* cq);
  void progress_for_post(const ibv_send_wr* wr);
  void stamp_flushed(const nic::Qp* qp);

  DeviceCore& core_;
};

}  // namespace verbs::soft::host
