// User FIFOs: the mapped consumer index and register, behind functions that cannot be misled.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "binding/library.h"
#include "provider/child.h"
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
napi_value create_usr_fifo(const Arguments& arguments) {
  const napi_env env = arguments.env;
  const Library* library = library_of(arguments, 0);
  const Taken context = library ? take(arguments, 1, VERBS_CORE_CONTEXT) : nullptr;
  if (!context) return nullptr;
  Given<hbldv_usr_fifo_attr> attr;
  attr->port_num = to_u32(env, get(env, arguments[2], "portNum"));
  attr->usr_fifo_num_hint = to_u32(env, get(env, arguments[2], "usrFifoNumHint"));
  attr->usr_fifo_type = static_cast<hbldv_usr_fifo_type>(to_u32(env, get(env, arguments[2], "usrFifoType")));
  attr->base_sob_addr = to_u32(env, get(env, arguments[2], "baseSobAddr"));
  attr->num_sobs = to_u32(env, get(env, arguments[2], "numSobs"));
  attr->dir_dup_mask = static_cast<std::uint8_t>(to_u32(env, get(env, arguments[2], "dirDupMask")));
  const bool collective = attr->base_sob_addr != 0 || attr->num_sobs != 0 || attr->dir_dup_mask != 0;
  if (collective && !library->is_sdk()) return failure(env, EOPNOTSUPP);
  errno = 0;
  hbldv_usr_fifo* made = library->hbldv_create_usr_fifo(pointer<ibv_context>(context), attr.get());
  if (!made) return failure(env, errno == 0 ? EIO : errno);
  auto fifo = std::make_unique<UsrFifo>(*library, made);
  const hbldv_usr_fifo fields = fifo->fields();
  const bool mapped = fifo->mapped();
  const std::uint32_t entries = fields.size / kEntrySize;
  // The arithmetic of indices needs a power of two, which every known device has.
  if (entries == 0 || (entries & (entries - 1)) != 0) return failure(env, EPROTO);
  const napi_value handle = Child::attach(env, std::move(fifo), {context.get()});
  if (!handle) return nullptr;
  napi_value result = object(env);
  set(env, result, "handle", handle);
  set(env, result, "usrFifoNum", number(env, fields.usr_fifo_num));
  set(env, result, "size", number(env, fields.size));
  set(env, result, "bpThresh", number(env, fields.bp_thresh));
  set(env, result, "regsOffset", number(env, fields.regs_offset));
  set(env, result, "mapped", boolean(env, mapped));
  return result;
}

template <typename Call>
napi_value with_fifo(const Arguments& arguments, Call&& call) {
  Taken keep;
  UsrFifo* fifo = Child::of<UsrFifo>(arguments, 0, &keep);
  if (!fifo) return nullptr;
  if (!fifo->usable()) {
    napi_throw_error(arguments.env, "EBADF", "EBADF: the user FIFO is gone, although its destruction failed: close it");
    return nullptr;
  }
  return call(*fifo);
}

// consumerIndex(fifo), space(fifo): numbers of entries
napi_value consumer_index(const Arguments& arguments) {
  return with_fifo(arguments, [&](UsrFifo& fifo) { return number(arguments.env, fifo.consumer_index()); });
}
napi_value space(const Arguments& arguments) {
  return with_fifo(arguments, [&](UsrFifo& fifo) { return number(arguments.env, fifo.space()); });
}

// push(fifo, bigint | BigUint64Array, first, count): how many were pushed | -errno
napi_value push(const Arguments& arguments) {
  const napi_env env = arguments.env;
  return with_fifo(arguments, [&](UsrFifo& fifo) {
    if (!fifo.mapped()) return failure(env, EOPNOTSUPP);
    const Bytes bytes = to_bytes(env, arguments[1]);
    if (!bytes.data) {
      const std::uint64_t doorbell = to_u64(env, arguments[1]);
      return number(env, fifo.push(&doorbell, 1));
    }
    const std::uint64_t length = bytes.size / kEntrySize;
    const std::uint64_t first = std::min<std::uint64_t>(to_u32(env, arguments[2]), length);
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(to_u32(env, arguments[3]), length - first));
    return number(env, fifo.push(reinterpret_cast<const std::uint64_t*>(bytes.data) + first, count));
  });
}

}  // namespace

void init_usr_fifo(napi_env env, napi_value exports) {
  export_function<create_usr_fifo>(env, exports, "createUsrFifo");
  export_function<consumer_index>(env, exports, "consumerIndex");
  export_function<space>(env, exports, "space");
  export_function<push>(env, exports, "push");
}

}  // namespace verbs::hbl::binding
