#include "nic/objects/memory_window.h"

#include <cerrno>

#include "nic/base/containers.h"
#include "nic/objects/queue_pair.h"

namespace verbs::soft::nic {
namespace {

constexpr unsigned kKnownOfWindow = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                    IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED;
constexpr std::uint32_t kChosenByte = 0xff;
constexpr unsigned kRemoteWriters = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

void attach(Mw& mw, Mr* mr, Qp* qp) {
  mw.mr = mr;
  mw.qp = qp;
  if (mr != nullptr) ++mr->windows;
  if (qp != nullptr) ++qp->windows;
}

bool may_open(const Mr& mr, const MwBind& bind) {
  if ((mr.access & IBV_ACCESS_MW_BIND) == 0 || (mr.access & IBV_ACCESS_ZERO_BASED) != 0) return false;
  // Remote write access needs local write access to the region.
  if ((bind.access & kRemoteWriters) != 0 && (mr.access & IBV_ACCESS_LOCAL_WRITE) == 0) return false;
  return mr.covers(bind.address, bind.length);
}

}  // namespace

std::uint8_t* Mw::at(std::uint64_t from, std::size_t size) const {
  const std::uint64_t offset = (access & IBV_ACCESS_ZERO_BASED) != 0 ? from : from - address;
  if (offset > length || size > length - offset) return nullptr;
  return mr->at(address + offset, size);
}

void MwTable::detach(Mw& mw) {
  if (mw.mr != nullptr) {
    mrs_.revoke_references(*mw.mr);
    --mw.mr->windows;
  }
  if (mw.qp != nullptr) --mw.qp->windows;
  mw.mr = nullptr;
  mw.qp = nullptr;
}

int MwTable::alloc(Pd* pd, ibv_mw_type type, Mw** mw, Why* why) {
  const auto refuse = [why](int error, const Why& reason) {
    if (why != nullptr) *why = reason;
    return error;
  };
  if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2) return refuse(EINVAL, {Reason::kWindowType, {type}});
  auto made = std::make_unique<Mw>();
  made->pd = pd;
  made->type = type;
  Mw* raw = made.get();
  const std::uint32_t index = table_.insert(std::move(made));
  if (index == 0) return refuse(ENOMEM, {Reason::kObjectLimit, {table_.limit()}});
  raw->key = index << 8 | ++next_byte_;
  ++pd->users;
  *mw = raw;
  return 0;
}

int MwTable::dealloc(Mw* mw) {
  detach(*mw);
  --mw->pd->users;
  erase(table_, mw->key >> 8);
  return 0;
}

bool MwTable::bind(Qp& qp, const MwBind& bind) {
  Mw* mw = table_.find(bind.rkey >> 8);
  if (mw == nullptr || mw->pd != qp.pd || (bind.access & ~kKnownOfWindow) != 0) return false;
  const bool type_2 = mw->type == IBV_MW_TYPE_2;
  if (type_2 && mw->key != bind.rkey) return false;
  // A type 2 window must be invalidated before it is bound again, and a length of 0 is no bind; a type 1 window is
  // never zero-based.
  if (type_2 ? mw->mr != nullptr || bind.length == 0 : (bind.access & IBV_ACCESS_ZERO_BASED) != 0) return false;
  Mr* mr = nullptr;
  if (bind.length > 0) {
    mr = mrs_.find(bind.lkey, qp.pd);
    if (mr == nullptr || !may_open(*mr, bind)) return false;
  }
  detach(*mw);
  attach(*mw, mr, type_2 ? &qp : nullptr);
  mw->key = (mw->key & ~kChosenByte) | bind.key_byte;
  mw->address = bind.address;
  mw->length = bind.length;
  mw->access = bind.access;
  return true;
}

bool MwTable::invalidate(const Qp& qp, std::uint32_t key) {
  Mw* mw = table_.find(key >> 8);
  if (mw == nullptr || mw->key != key || mw->type != IBV_MW_TYPE_2 || mw->pd != qp.pd) return false;
  if (mw->qp != nullptr && mw->qp != &qp) return false;
  detach(*mw);
  return true;
}

void MwTable::unbind_all(const Qp& qp) {
  if (qp.windows == 0) return;
  table_.for_each([this, &qp](Mw& mw) {
    if (mw.qp == &qp) detach(mw);
  });
}

const Mw* MwTable::find(std::uint32_t key, const Qp& qp, const Pd* pd, unsigned access) const {
  const Mw* mw = table_.find(key >> 8);
  if (mw == nullptr || mw->key != key || mw->pd != pd || mw->mr == nullptr) return nullptr;
  if (mw->qp != nullptr && mw->qp != &qp) return nullptr;
  return (mw->access & access) == access ? mw : nullptr;
}

}  // namespace verbs::soft::nic
