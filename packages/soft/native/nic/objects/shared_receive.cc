#include "nic/objects/shared_receive.h"

#include <algorithm>
#include <cerrno>

#include "nic/base/containers.h"

namespace verbs::soft::nic {

Srq::Srq(Pd* srq_pd, void* srq_owner, std::uint32_t max_wr, std::uint32_t max_sge) : pd(srq_pd), owner(srq_owner) {
  queue.allocate(max_wr, max_sge);
}

int Srq::resize(std::uint32_t max_wr) {
  if (max_wr < queue.taken()) return EINVAL;
  RecvQueue resized;
  resized.allocate(max_wr, queue.max_sge());
  resized.released = posted() - queue.taken();  // dequeued, and its completion not polled
  for (; !queue.empty(); ++queue.head) {
    resized.at(resized.tail) = queue.at(queue.head);
    std::copy_n(queue.sges(queue.head), queue.at(queue.head).num_sge, resized.sges(resized.tail));
    ++resized.tail;
  }
  queue = std::move(resized);
  return 0;
}

void Srq::arm(std::uint32_t requests, EventSink& events) {
  limit = requests;
  check_limit(events);
}

void Srq::dequeue(RecvWqe* wqe, ibv_sge* sges, EventSink& events) {
  *wqe = queue.at(queue.head);
  std::copy_n(queue.sges(queue.head), wqe->num_sge, sges);
  ++queue.head;
  check_limit(events);
}

// The event disarms the limit (IBTA 10.2.9.2).
void Srq::check_limit(EventSink& events) {
  if (posted() >= limit) return;
  limit = 0;
  events.async({.type = IBV_EVENT_SRQ_LIMIT_REACHED, .srq = this});
}

Xrcd* XrcdTable::find(const XrcdFile& file) {
  Xrcd* found = nullptr;
  table_.for_each([&](Xrcd& xrcd) {
    if (xrcd.file && xrcd.file->device == file.device && xrcd.file->inode == file.inode) found = &xrcd;
  });
  return found;
}

int XrcdTable::open(const XrcdFile* file, bool create, bool exclusive, Xrcd** xrcd) {
  if (file != nullptr) {
    Xrcd* known = find(*file);
    if (known == nullptr && !create) return EAGAIN;  // as from the kernel
    if (known != nullptr && exclusive) return EINVAL;
    if (known != nullptr) {
      ++known->opens;
      *xrcd = known;
      return 0;
    }
  }
  auto made = std::make_unique<Xrcd>();
  if (file != nullptr) made->file = *file;
  Xrcd* raw = made.get();
  const std::uint32_t index = table_.insert(std::move(made));
  if (index == 0) return ENOMEM;
  raw->handle = index;
  *xrcd = raw;
  return 0;
}

int XrcdTable::close(Xrcd* xrcd) {
  if (xrcd->opens == 1 && xrcd->users > 0) return EBUSY;
  if (--xrcd->opens == 0) erase(table_, xrcd->handle);
  return 0;
}

}  // namespace verbs::soft::nic
