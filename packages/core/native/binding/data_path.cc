#include "binding/data_path.h"

#include "binding/lifetime/handle.h"
#include "binding/qp/queue_pair.h"
#include "binding/qp/receive_work_queue.h"

namespace verbs::core {

namespace {

// (handle, bytes: Uint8Array, count), as all these calls take them.
struct Arguments {
  Arguments(napi_env env, napi_callback_info info) {
    napi_value values[3];
    std::size_t argc = 3;
    napi_typedarray_type type = napi_int8_array;
    void* data = nullptr;
    if (napi_get_cb_info(env, info, &argc, values, nullptr, nullptr) != napi_ok || argc < 3 ||
        napi_get_typedarray_info(env, values[1], &type, &size, &data, nullptr, nullptr) != napi_ok ||
        type != napi_uint8_array || napi_get_value_uint32(env, values[2], &count) != napi_ok) {
      throw Napi::TypeError::New(env, "expected a handle, a Uint8Array and a count");
    }
    object = values[0];
    bytes = static_cast<std::uint8_t*>(data);
  }

  napi_value object = nullptr;
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::uint32_t count = 0;
};

napi_value answer(napi_env env, int result) {
  napi_value value = nullptr;
  napi_create_int32(env, result, &value);
  return value;
}

template <typename T, int (T::*Method)(Cursor&, std::uint32_t)>
napi_value post(napi_env env, napi_callback_info info) {
  const Arguments arguments(env, info);
  const auto object = unwrap_open(env, arguments.object, T::kKind);
  Cursor cursor(arguments.bytes, arguments.size);
  const int result = (static_cast<T&>(*object).*Method)(cursor, arguments.count);
  if (arguments.size >= sizeof cursor.header) std::memcpy(arguments.bytes, &cursor.header, sizeof cursor.header);
  return answer(env, result);
}

// poll(cq, records, count): the number of completions, or -errno.
napi_value poll(napi_env env, napi_callback_info info) {
  const Arguments arguments(env, info);
  const auto object = unwrap_open(env, arguments.object, CompletionQueue::kKind);
  const std::size_t room = std::min<std::size_t>(arguments.size / sizeof(CompletionRecord), arguments.count);
  return answer(env, static_cast<CompletionQueue&>(*object).poll(arguments.bytes, static_cast<int>(room)));
}

}  // namespace

void init_data_path(Napi::Object exports) {
  // postSend(qp, batch, count) and the receiving calls: 0, a positive errno, or a PostError.
  export_plain<post<QueuePair, &QueuePair::post_send>>(exports, "postSend");
  export_plain<post<QueuePair, &QueuePair::post_recv>>(exports, "postRecv");
  export_plain<post<QueuePair, &QueuePair::bind_mw>>(exports, "bindMw");
  export_plain<post<SharedReceiveQueue, &SharedReceiveQueue::post_recv>>(exports, "postSrqRecv");
  export_plain<post<ReceiveWorkQueue, &ReceiveWorkQueue::post_recv>>(exports, "postWqRecv");
  export_plain<poll>(exports, "poll");
}

}  // namespace verbs::core
