// Shared receive queues: several QPs dequeue receive requests from one, oldest first. A dequeued request is copied to
// the QP, because the requests of an SRQ complete out of order.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "nic/base/containers.h"
#include "nic/base/limits.h"
#include "nic/objects/protection_domain.h"
#include "nic/objects/tag_list.h"
#include "nic/objects/work_queue.h"

namespace verbs::soft::nic {

class Cq;
class Xrcd;

class Srq {
 public:
  Srq(Pd* srq_pd, void* srq_owner, std::uint32_t max_wr, std::uint32_t max_sge);

  std::uint32_t posted() const { return queue.tail - queue.head; }
  // Changes the capacity and keeps the posted requests. 0, or EINVAL if those whose slots are taken do not fit.
  int resize(std::uint32_t max_wr);
  // Arms the limit event; 0 disarms it. The event is raised at once if fewer than `requests` are posted already.
  void arm(std::uint32_t requests, EventSink& events);
  // Copies the oldest request and its SGEs to a QP. The queue must not be empty.
  void dequeue(RecvWqe* wqe, ibv_sge* sges, EventSink& events);

  Pd* pd;
  void* owner;
  std::uint32_t number = 0;  // place in the NIC's table
  std::uint32_t users = 0;   // QPs that dequeue from it
  std::uint32_t limit = 0;   // armed: fewer posted requests than this raise the event
  RecvQueue queue;
  // XRC only. A target QP dequeues from the SRQ that a packet names, if it is in the same domain.
  Xrcd* xrcd = nullptr;
  std::unique_ptr<TagList> tags;  // of type TM only: what messages are matched with first
  Cq* cq = nullptr;               // XRC, TM: where its requests complete, instead of the QP's CQ
  bool failed = false;            // its CQ has overrun

 private:
  void check_limit(EventSink& events);
};

// XRC domains: a shared receive queue and the target QPs that fill it are in the same domain.

// The file that names an XRC domain.
struct XrcdFile {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

class Xrcd {
 public:
  std::uint32_t handle = 0;
  std::uint32_t users = 0;       // SRQs and target QPs in it
  std::uint32_t opens = 1;       // more than one only for a domain with a file
  std::optional<XrcdFile> file;  // that names it
};

class XrcdTable {
 public:
  XrcdTable() : table_(1, kMaxXrcds) {}

  // With a file: opens the domain with that name (EINVAL if `exclusive`), or makes one (EAGAIN unless `create`). With
  // nullptr: makes one without a name. ENOMEM. Every open needs a close.
  int open(const XrcdFile* file, bool create, bool exclusive, Xrcd** xrcd);
  // 0, or EBUSY for the last close while objects are in the domain.
  int close(Xrcd* xrcd);

 private:
  static constexpr std::uint32_t kMaxXrcds = 1u << 16;  // ibv_device_attr has no such limit

  Xrcd* find(const XrcdFile& file);

  Table<Xrcd> table_;
};

}  // namespace verbs::soft::nic
