#include "binding/data_path.h"

#include "binding/lifetime/handle.h"
#include "binding/qp/queue_pair.h"
#include "binding/qp/receive_work_queue.h"

namespace verbs::core {

namespace {

struct Arguments {
  napi_value object = nullptr;
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::uint32_t count = 0;
};

// (handle, bytes: Uint8Array, count), as all three calls take them.
Arguments read_arguments(napi_env env, napi_callback_info info) {
  Arguments arguments;
  napi_value values[3];
  std::size_t argc = 3;
  napi_typedarray_type type = napi_int8_array;
  void* data = nullptr;
  if (napi_get_cb_info(env, info, &argc, values, nullptr, nullptr) != napi_ok || argc < 3 ||
      napi_get_typedarray_info(env, values[1], &type, &arguments.size, &data, nullptr, nullptr) != napi_ok ||
      type != napi_uint8_array || napi_get_value_uint32(env, values[2], &arguments.count) != napi_ok) {
    throw Napi::TypeError::New(env, "expected a handle, a Uint8Array and a count");
  }
  arguments.object = values[0];
  arguments.bytes = static_cast<std::uint8_t*>(data);
  return arguments;
}

template <typename Call>
napi_value run(napi_env env, Call call) {
  return Napi::details::WrapCallback(env, [&]() -> napi_value {
    napi_value result = nullptr;
    try {
      napi_create_int32(env, call(), &result);
    } catch (const std::bad_alloc&) {
      provider::throw_out_of_memory(env);
    }
    return result;
  });
}

template <typename T, int (T::*Method)(Cursor&, std::uint32_t)>
napi_value post(napi_env env, napi_callback_info info) {
  return run(env, [&] {
    const Arguments arguments = read_arguments(env, info);
    const auto object = unwrap_open(env, arguments.object, T::kKind);
    Cursor cursor(arguments.bytes, arguments.size);
    const int result = (static_cast<T&>(*object).*Method)(cursor, arguments.count);
    if (arguments.size >= sizeof cursor.header) std::memcpy(arguments.bytes, &cursor.header, sizeof cursor.header);
    return result;
  });
}

// poll(cq, records, count): the number of completions, or -errno.
napi_value poll(napi_env env, napi_callback_info info) {
  return run(env, [&] {
    const Arguments arguments = read_arguments(env, info);
    const auto object = unwrap_open(env, arguments.object, CompletionQueue::kKind);
    const std::size_t room = std::min<std::size_t>(arguments.size / sizeof(CompletionRecord), arguments.count);
    return static_cast<CompletionQueue&>(*object).poll(arguments.bytes, static_cast<int>(room));
  });
}

void export_raw(Napi::Object exports, const char* name, napi_callback function) {
  napi_value value = nullptr;
  if (napi_create_function(exports.Env(), name, NAPI_AUTO_LENGTH, function, nullptr, &value) != napi_ok) {
    throw Napi::Error::New(exports.Env());
  }
  exports.Set(name, value);
}

}  // namespace

void init_data_path(Napi::Object exports) {
  // postSend(qp, batch, count) and the receiving calls: 0, a positive errno, or a PostError.
  export_raw(exports, "postSend", post<QueuePair, &QueuePair::post_send>);
  export_raw(exports, "postRecv", post<QueuePair, &QueuePair::post_recv>);
  export_raw(exports, "bindMw", post<QueuePair, &QueuePair::bind_mw>);
  export_raw(exports, "postSrqRecv", post<SharedReceiveQueue, &SharedReceiveQueue::post_recv>);
  export_raw(exports, "postWqRecv", post<ReceiveWorkQueue, &ReceiveWorkQueue::post_recv>);
  export_raw(exports, "poll", poll);
}

}  // namespace verbs::core
