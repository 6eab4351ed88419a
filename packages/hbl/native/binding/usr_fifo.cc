// User FIFOs: the mapped consumer index and register, behind functions that cannot be misled.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "binding/library.h"
#include "provider/exchange.h"

namespace verbs::hbl::binding {
namespace {

constexpr std::uint32_t kEntrySize = 8;
// Entries that stay free: the consumer index lags by one, and a push takes one entry.
constexpr std::uint32_t kReserve = 2;

class UsrFifo final : public Child {
 public:
  static constexpr char kType = 0;
  UsrFifo(const Library& library, hbldv_usr_fifo* fifo)
      : Child(&kType), library_(library), fifo_(fifo), entries_(fifo->size / kEntrySize) {}
  ~UsrFifo() override { static_cast<void>(release()); }

  const hbldv_usr_fifo& fields() const { return *fifo_; }
  // False after a destruction that failed: nothing is mapped any more.
  bool usable() const { return fifo_ != nullptr; }
  bool mapped() const { return fifo_->regs_cpu_addr != reinterpret_cast<void*>(-1); }
  std::uint32_t consumer_index() const { return *static_cast<const volatile std::uint32_t*>(fifo_->ci_cpu_addr); }
  // How many doorbells fit now.
  std::uint32_t space() const {
    const std::uint32_t used = (entries_ + index_ - consumer_index() % entries_) & (entries_ - 1);
    return entries_ - used > kReserve ? entries_ - used - kReserve : 0;
  }
  // Pushes up to `count` entries, while they fit. Each is one 64-bit store, which the device sees after all earlier
  // stores.
  std::uint32_t push(const std::uint64_t* doorbells, std::uint32_t count) {
    auto* target =
        reinterpret_cast<volatile std::uint64_t*>(static_cast<char*>(fifo_->regs_cpu_addr) + fifo_->regs_offset);
    const std::uint32_t fitting = std::min(count, space());
    fence();
    for (std::uint32_t i = 0; i < fitting; ++i) *target = doorbells[i];
    index_ = (index_ + fitting) & (entries_ - 1);
    return fitting;
  }

 private:
  // The C function unmaps the pages and frees the structure also when it fails: it is called once.
  int release() override {
    hbldv_usr_fifo* fifo = std::exchange(fifo_, nullptr);
    return fifo ? library_.hbldv_destroy_usr_fifo(fifo) : 0;
  }
  static void fence() {
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  }

  const Library& library_;
  hbldv_usr_fifo* fifo_;
  std::uint32_t entries_;
  std::uint32_t index_ = 0;  // where the next doorbell goes
};

// createUsrFifo(library, context, { portNum, usrFifoNumHint, usrFifoType, baseSobAddr, numSobs, dirDupMask }):
// { handle, usrFifoNum, size, bpThresh, regsOffset, mapped } | -errno. EOPNOTSUPP: the last three are the SDK's
// library's.
Napi::Value create_usr_fifo(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Library& library = library_of(info, 0);
  const auto context = take<ibv_context>(info, 1);
  Given<hbldv_usr_fifo_attr> attr;
  const Fields given(info[2]);
  attr->port_num = given.u32("portNum");
  attr->usr_fifo_num_hint = given.u32("usrFifoNumHint");
  attr->usr_fifo_type = given.number<hbldv_usr_fifo_type>("usrFifoType");
  attr->base_sob_addr = given.u32("baseSobAddr");
  attr->num_sobs = given.u32("numSobs");
  attr->dir_dup_mask = given.number<std::uint8_t>("dirDupMask");
  const bool collective = attr->base_sob_addr != 0 || attr->num_sobs != 0 || attr->dir_dup_mask != 0;
  if (collective && !library.is_sdk()) return failure(env, EOPNOTSUPP);
  errno = 0;
  hbldv_usr_fifo* made = library.hbldv_create_usr_fifo(context.get(), attr.get());
  if (!made) return failure(env, errno == 0 ? EIO : errno);
  auto fifo = std::make_unique<UsrFifo>(library, made);
  const hbldv_usr_fifo fields = fifo->fields();
  const bool mapped = fifo->mapped();
  const std::uint32_t entries = fields.size / kEntrySize;
  // The arithmetic of indices needs a power of two, which every known device has.
  if (entries == 0 || (entries & (entries - 1)) != 0) return failure(env, EPROTO);
  const Napi::Value handle = Child::attach(env, std::move(fifo), {context.object()});
  Napi::Object result = Napi::Object::New(env);
  result.Set("handle", handle);
  result.Set("usrFifoNum", fields.usr_fifo_num);
  result.Set("size", fields.size);
  result.Set("bpThresh", fields.bp_thresh);
  result.Set("regsOffset", fields.regs_offset);
  result.Set("mapped", mapped);
  return result;
}

template <typename Call>
Napi::Value with_fifo(const Napi::CallbackInfo& info, Call&& call) {
  const auto fifo = take<UsrFifo>(info, 0);
  if (!fifo->usable()) {
    const char* const text = "EBADF: the user FIFO is gone, although its destruction failed: close it";
    throw coded(Napi::Error::New(info.Env(), text), "EBADF");
  }
  return call(*fifo);
}

// consumerIndex(fifo), space(fifo): numbers of entries
Napi::Value consumer_index(const Napi::CallbackInfo& info) {
  return with_fifo(info, [&](UsrFifo& fifo) { return number(info.Env(), fifo.consumer_index()); });
}
Napi::Value space(const Napi::CallbackInfo& info) {
  return with_fifo(info, [&](UsrFifo& fifo) { return number(info.Env(), fifo.space()); });
}

// push(fifo, bigint | BigUint64Array, first, count): how many were pushed | -errno
Napi::Value push(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return with_fifo(info, [&](UsrFifo& fifo) {
    if (!fifo.mapped()) return failure(env, EOPNOTSUPP);
    if (!info[1].IsTypedArray()) {
      const std::uint64_t doorbell = u64_of(info[1]);
      return number(env, fifo.push(&doorbell, 1));
    }
    const Bytes bytes = bytes_of(info[1]);
    const std::uint64_t length = bytes.size / kEntrySize;
    const std::uint64_t first = std::min<std::uint64_t>(number_of<std::uint32_t>(info[2]), length);
    const auto count =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(number_of<std::uint32_t>(info[3]), length - first));
    return number(env, fifo.push(reinterpret_cast<const std::uint64_t*>(bytes.data) + first, count));
  });
}

}  // namespace

void init_usr_fifo(Napi::Object exports) {
  export_function<create_usr_fifo>(exports, "createUsrFifo");
  export_function<consumer_index>(exports, "consumerIndex");
  export_function<space>(exports, "space");
  export_function<push>(exports, "push");
}

}  // namespace verbs::hbl::binding
