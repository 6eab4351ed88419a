#include "binding/completion/completion_counter.h"

#include <cerrno>
#include <cstddef>

#include "binding/lifetime/handle.h"

namespace verbs::core {
namespace {

// The structures of release 65. What the library fills has room for a longer one.
struct Capabilities {
  std::uint64_t max_value;
  std::uint32_t max_counters;
  std::uint32_t attach_operations;
  std::uint64_t later[8];
};
struct InitAttr {
  std::uint32_t comp_mask;
  std::uint32_t type;
  std::uint32_t flags;
};

// queryCompCntrCaps(context): { maxValue, maxCounters, supportedQpAttachOps } | -errno
Napi::Value query_caps(const Napi::CallbackInfo& info) {
  const auto context = take<Context>(info, 0);
  const auto query = context->functions().query_comp_cntr_caps;
  if (query == nullptr) return failure(info.Env(), EOPNOTSUPP);
  Capabilities caps{};
  if (const int error = query(context->ctx(), &caps, offsetof(Capabilities, later))) return failure(info.Env(), error);
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("maxValue", Napi::BigInt::New(info.Env(), caps.max_value));
  result.Set("maxCounters", Napi::Number::New(info.Env(), caps.max_counters));
  result.Set("supportedQpAttachOps", Napi::Number::New(info.Env(), caps.attach_operations));
  return result;
}

// createCompCntr(context, type): handle | -errno
Napi::Value create(const Napi::CallbackInfo& info) {
  const auto context = take<Context>(info, 0);
  if (context->functions().create_comp_cntr == nullptr) return failure(info.Env(), EOPNOTSUPP);
  InitAttr attr{.comp_mask = 0, .type = number_of<std::uint32_t>(info[1]), .flags = 0};
  errno = 0;
  ibv_comp_cntr* counter = context->functions().create_comp_cntr(context->ctx(), &attr);
  if (counter == nullptr) return failure(info.Env(), creation_error());
  return wrap_object(
      info.Env(), std::make_shared<CompletionCounter>(
                      std::vector<std::shared_ptr<Object>>{context}, counter,
                      [](const Context& its, ibv_comp_cntr* made) { return its.functions().destroy_comp_cntr(made); }));
}

// readCompCntr(counter, errors): a bigint | -errno
Napi::Value read(const Napi::CallbackInfo& info) {
  const auto counter = take<CompletionCounter>(info, 0);
  const Functions& f = counter->context().functions();
  const auto call = flag_of(info[1]) ? f.read_err_comp_cntr : f.read_comp_cntr;
  std::uint64_t value = 0;
  if (const int error = call(counter->get(), &value)) return failure(info.Env(), error);
  return Napi::BigInt::New(info.Env(), value);
}

// changeCompCntr(counter, errors, adds, value): 0 | -errno
Napi::Value change(const Napi::CallbackInfo& info) {
  const auto counter = take<CompletionCounter>(info, 0);
  const Functions& f = counter->context().functions();
  const bool errors = flag_of(info[1]), adds = flag_of(info[2]);
  const std::uint64_t value = u64_of(info[3]);
  const auto call =
      adds ? (errors ? f.inc_err_comp_cntr : f.inc_comp_cntr) : (errors ? f.set_err_comp_cntr : f.set_comp_cntr);
  return failure(info.Env(), call(counter->get(), value));
}

}  // namespace

void init_completion_counter(Napi::Object exports) {
  export_function<query_caps>(exports, "queryCompCntrCaps");
  export_function<create>(exports, "createCompCntr");
  export_function<read>(exports, "readCompCntr");
  export_function<change>(exports, "changeCompCntr");
}

}  // namespace verbs::core
