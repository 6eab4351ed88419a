// Servers, clients, consumers, producers and their memory, for JavaScript. Connections have numbers.
#include <algorithm>
#include <iterator>

#include "binding/comch/arguments.h"
#include "binding/comch/calls.h"
#include "binding/comch/path.h"

namespace verbs::doca_comm::binding {

namespace {

using provider::number;
using provider::to_u32;

// comchCapability(device, which): of `kCapabilities`; 0 or the error for what is supported or not.
napi_value comch_capability(const Arguments& arguments) {
  const auto* device = held<Device>(arguments, 0, kDeviceTag);
  if (!device) return nullptr;
  const ComchFunctions* f = device->library().comch();
  const FastPathFunctions* fast = device->library().fast_path();
  if (!f) return failure(arguments, DOCA_ERROR_NOT_SUPPORTED);
  if (!device->get()) return failure(arguments, DOCA_ERROR_INVALID_VALUE);
  const doca_devinfo* info = device->functions().dev_as_devinfo(device->get());
  using Getter = doca_error_t (*)(const doca_devinfo*, std::uint32_t*);
  const Getter getters[] = {f->cap_get_max_name_len,
                            f->cap_get_max_msg_size,
                            f->cap_get_max_send_tasks,
                            f->cap_get_max_recv_queue_size,
                            f->cap_get_max_clients,
                            fast ? fast->consumer_cap_get_max_num_tasks : nullptr,
                            fast ? fast->consumer_cap_get_max_buf_size : nullptr,
                            fast ? fast->consumer_cap_get_max_imm_data_len : nullptr,
                            fast ? fast->producer_cap_get_max_num_tasks : nullptr,
                            fast ? fast->producer_cap_get_max_buf_size : nullptr};
  using Test = doca_error_t (*)(const doca_devinfo*);
  const Test tests[] = {f->cap_server_is_supported, f->cap_client_is_supported,
                        fast ? fast->consumer_cap_is_supported : nullptr,
                        fast ? fast->producer_cap_is_supported : nullptr};
  const std::uint32_t which = to_u32(arguments.env, arguments[1]);
  if (which < std::size(getters)) {
    std::uint32_t value = 0;
    const doca_error_t error = getters[which] ? getters[which](info, &value) : DOCA_ERROR_NOT_SUPPORTED;
    return error ? failure(arguments, error) : number(arguments.env, value);
  }
  const std::uint32_t test = which - static_cast<std::uint32_t>(std::size(getters));
  if (test >= std::size(tests)) return failure(arguments, DOCA_ERROR_INVALID_VALUE);
  return failure(arguments, tests[test] ? tests[test](info) : DOCA_ERROR_NOT_SUPPORTED);
}

// createServer(engine, device, representor, name), createClient(engine, device, name): { handle, id }, or the error
napi_value create_end(const Arguments& arguments, const std::shared_ptr<OpenRepresentor>& representor,
                      std::size_t name) {
  auto* holder = held<EngineHolder>(arguments, 0, kEngineTag);
  const auto* device = holder ? held<Device>(arguments, 1, kDeviceTag) : nullptr;
  if (!device) return nullptr;
  const std::shared_ptr<Engine>& engine = holder->engine;
  if (!device->get() || !engine->get() || &device->library() != &engine->library()) {
    return failure(arguments, DOCA_ERROR_INVALID_VALUE);
  }
  doca_error_t error = DOCA_SUCCESS;
  auto end = ComchEnd::create(*engine, device->open(), representor, provider::to_string(arguments.env, arguments[name]),
                              &error);
  return end ? give_context(arguments.env, engine, std::move(end)) : failure(arguments, error);
}
napi_value create_client(const Arguments& arguments) { return create_end(arguments, nullptr, 2); }
napi_value create_server(const Arguments& arguments) {
  const auto* representor = held<Representor>(arguments, 2, kRepresentorTag);
  const auto* device = representor ? held<Device>(arguments, 1, kDeviceTag) : nullptr;
  if (!device) return nullptr;
  if (!representor->get() || &representor->library() != &device->library()) {
    return failure(arguments, DOCA_ERROR_INVALID_VALUE);
  }
  return create_end(arguments, representor->open(), 3);
}

// Null where it is destroyed, or with a TypeError pending.
ComchEnd* end_of(const Arguments& arguments) {
  return context_of<ComchEnd>(
      arguments, [](Context::Kind kind) { return kind == Context::Kind::kServer || kind == Context::Kind::kClient; });
}
ComchPath* path_of(const Arguments& arguments) {
  return context_of<ComchPath>(arguments, [](Context::Kind kind) {
    return kind == Context::Kind::kConsumer || kind == Context::Kind::kProducer;
  });
}
// comchSize(end, which), setComchSize(end, which, size): 0 message, 1 receive queue, 2 send tasks
napi_value get_size(const Arguments& arguments) {
  const ComchEnd* end = end_of(arguments);
  if (!end) return destroyed(arguments);
  std::uint32_t size = 0;
  const auto which = static_cast<ComchEnd::Size>(to_u32(arguments.env, arguments[1]));
  const doca_error_t error = end->get_size(which, &size);
  return error ? failure(arguments, error) : number(arguments.env, size);
}
napi_value set_size(const Arguments& arguments) {
  ComchEnd* end = end_of(arguments);
  if (!end) return destroyed(arguments);
  const auto which = static_cast<ComchEnd::Size>(to_u32(arguments.env, arguments[1]));
  return failure(arguments, end->set_size(which, to_u32(arguments.env, arguments[2])));
}

// comchSend(end, connection, message, cookie, limit): AGAIN where so many messages to the peer are in flight
napi_value send_message(const Arguments& arguments) {
  ComchEnd* end = end_of(arguments);
  if (!end) return destroyed(arguments);
  const provider::Bytes message = provider::to_bytes(arguments.env, arguments[2]);
  return failure(arguments, end->send(to_u32(arguments.env, arguments[1]), message.data, message.size,
                                      to_u32(arguments.env, arguments[3]), to_u32(arguments.env, arguments[4])));
}

// comchDisconnect(server, connection), comchUpdateInfo(end, connection), comchCounters(end, connection, out): messages
// and bytes sent, messages and bytes received, messages in flight into a BigUint64Array
napi_value disconnect(const Arguments& arguments) {
  ComchEnd* end = end_of(arguments);
  return end ? failure(arguments, end->disconnect(to_u32(arguments.env, arguments[1]))) : destroyed(arguments);
}
napi_value update_info(const Arguments& arguments) {
  ComchEnd* end = end_of(arguments);
  return end ? failure(arguments, end->update_info(to_u32(arguments.env, arguments[1]))) : destroyed(arguments);
}
napi_value counters(const Arguments& arguments) {
  const ComchEnd* end = end_of(arguments);
  if (!end) return destroyed(arguments);
  const provider::Bytes out = provider::to_bytes(arguments.env, arguments[2]);
  std::uint64_t values[ComchEnd::kCounters] = {};
  if (out.size < sizeof values) return failure(arguments, DOCA_ERROR_INVALID_VALUE);
  const doca_error_t error = end->counters(to_u32(arguments.env, arguments[1]), values);
  if (error == DOCA_SUCCESS) std::memcpy(out.data, values, sizeof values);
  return failure(arguments, error);
}

// comchInFlight(end): messages whose tasks have not completed
napi_value in_flight(const Arguments& arguments) {
  const ComchEnd* end = end_of(arguments);
  return end ? number(arguments.env, end->in_flight()) : destroyed(arguments);
}

// comchForget(end, connection): of one that is gone, the counters are not needed any more.
napi_value forget(const Arguments& arguments) {
  ComchEnd* end = end_of(arguments);
  if (!end) return destroyed(arguments);
  end->forget(to_u32(arguments.env, arguments[1]));
  return provider::undefined(arguments.env);
}

// comchConnections(end, out): how many there are; the numbers of as many as fit into `out`
napi_value connections(const Arguments& arguments) {
  const ComchEnd* end = end_of(arguments);
  if (!end) return destroyed(arguments);
  const Words out = to_words(arguments.env, arguments[1]);
  std::size_t count = 0;
  for (const auto& entry : end->connections()) {
    if (entry.second->pointer == nullptr) continue;
    if (count < out.count) out.data[count] = entry.first;
    ++count;
  }
  return number(arguments.env, static_cast<double>(count));
}

// createMmap(device, length, permissions): { handle, buffer }, or the error. The ArrayBuffer has the memory for good.
napi_value create_mmap(const Arguments& arguments) {
  const auto* device = held<Device>(arguments, 0, kDeviceTag);
  if (!device) return nullptr;
  if (!device->library().fast_path()) return failure(arguments, DOCA_ERROR_NOT_SUPPORTED);
  const std::int64_t length = provider::to_integer(arguments.env, arguments[1]);
  if (!device->get() || length <= 0) return failure(arguments, DOCA_ERROR_INVALID_VALUE);
  const auto pages = Pages::allocate(static_cast<std::size_t>(length));
  if (!pages) return failure(arguments, DOCA_ERROR_NO_MEMORY);
  doca_error_t error = DOCA_SUCCESS;
  auto mmap = Mmap::create(device->open(), pages, to_u32(arguments.env, arguments[2]), &error);
  if (!mmap) return failure(arguments, error);

  struct Hold {
    std::shared_ptr<Pages> pages;
    bool* finalized;
  };
  bool finalized = false;
  auto hold = std::make_unique<Hold>(Hold{pages, &finalized});
  napi_value buffer = nullptr;
  const napi_status status = napi_create_external_arraybuffer(
      arguments.env, pages->data(), pages->length(),
      [](node_api_basic_env, void*, void* data) {
        const std::unique_ptr<Hold> last(static_cast<Hold*>(data));
        if (last->finalized != nullptr) *last->finalized = true;
      },
      hold.get(), &buffer);
  // For some buffers that it rejects (one that is too long) Node runs the finalizer all the same.
  if (finalized) static_cast<void>(hold.release());
  if (status == napi_no_external_buffers_allowed) return failure(arguments, DOCA_ERROR_NOT_SUPPORTED);
  if (status != napi_ok) return failure(arguments, DOCA_ERROR_NO_MEMORY);
  hold.release()->finalized = nullptr;  // the finalizer's now
  const napi_value result = provider::object(arguments.env);
  provider::set(arguments.env, result, "handle",
                give(arguments.env, std::make_unique<MmapHolder>(std::move(mmap)), kMmapTag));
  provider::set(arguments.env, result, "buffer", buffer);
  return result;
}

// destroyMmap(mmap): IN_USE while a consumer or a transfer has it
napi_value destroy_mmap(const Arguments& arguments) {
  auto* mmap = held<MmapHolder>(arguments, 0, kMmapTag);
  if (!mmap) return nullptr;
  if (*mmap && mmap->use_count() > 1) return failure(arguments, DOCA_ERROR_IN_USE);
  mmap->reset();
  return failure(arguments, DOCA_SUCCESS);
}

// createConsumer(end, connection, tasks, mmap), createProducer(end, connection, tasks): { handle, id }, or the error
napi_value create_path(const Arguments& arguments, const std::shared_ptr<Mmap>& mmap) {
  ComchEnd* end = end_of(arguments);
  if (!end) return destroyed(arguments);
  auto* holder = held<ContextHolder>(arguments, 0, kContextTag);
  const Connection* connection = end->live(to_u32(arguments.env, arguments[1]));
  const std::uint32_t tasks = to_u32(arguments.env, arguments[2]);
  constexpr std::uint32_t kMost = 1u << 20;
  if (!end->engine().library().fast_path()) return failure(arguments, DOCA_ERROR_NOT_SUPPORTED);
  if (!connection) return failure(arguments, DOCA_ERROR_NOT_CONNECTED);
  if (tasks == 0 || tasks > kMost) return failure(arguments, DOCA_ERROR_INVALID_VALUE);
  doca_error_t error = DOCA_SUCCESS;
  auto path = ComchPath::create(*end, *connection, mmap, tasks, &error);
  return path ? give_context(arguments.env, holder->engine, std::move(path)) : failure(arguments, error);
}
napi_value create_producer(const Arguments& arguments) { return create_path(arguments, nullptr); }
napi_value create_consumer(const Arguments& arguments) {
  const auto* mmap = held<MmapHolder>(arguments, 3, kMmapTag);
  if (!mmap) return nullptr;
  const ComchEnd* end = end_of(arguments);
  if (!end) return destroyed(arguments);
  if (!*mmap || &(*mmap)->library() != &end->engine().library()) return failure(arguments, DOCA_ERROR_INVALID_VALUE);
  return create_path(arguments, *mmap);
}

// pathId(path): its id at the peer, or the error
napi_value path_id(const Arguments& arguments) {
  const ComchPath* path = path_of(arguments);
  if (!path) return destroyed(arguments);
  std::uint32_t id = 0;
  const doca_error_t error = path->get_id(&id);
  return error ? failure(arguments, error) : number(arguments.env, id);
}

// postReceive(consumer, offset, length, cookie)
napi_value post_receive(const Arguments& arguments) {
  ComchPath* path = path_of(arguments);
  if (!path) return destroyed(arguments);
  const std::int64_t offset = provider::to_integer(arguments.env, arguments[1]);
  if (offset < 0) return failure(arguments, DOCA_ERROR_INVALID_VALUE);
  return failure(arguments, path->post_receive(static_cast<std::uint64_t>(offset), to_u32(arguments.env, arguments[2]),
                                               to_u32(arguments.env, arguments[3])));
}

// produce(producer, mmap, offset, length, immediate, consumer, cookie)
napi_value produce(const Arguments& arguments) {
  ComchPath* path = path_of(arguments);
  if (!path) return destroyed(arguments);
  const auto* mmap = held<MmapHolder>(arguments, 1, kMmapTag);
  if (!mmap) return nullptr;
  const std::int64_t offset = provider::to_integer(arguments.env, arguments[2]);
  if (offset < 0 || !*mmap) return failure(arguments, DOCA_ERROR_INVALID_VALUE);
  const provider::Bytes immediate = provider::to_bytes(arguments.env, arguments[4]);
  const doca_error_t error =
      path->send(*mmap, static_cast<std::uint64_t>(offset), to_u32(arguments.env, arguments[3]), immediate.data,
                 static_cast<std::uint32_t>(std::min<std::size_t>(immediate.size, UINT32_MAX)),
                 to_u32(arguments.env, arguments[5]), to_u32(arguments.env, arguments[6]));
  return failure(arguments, error);
}

}  // namespace

void init_comch(napi_env env, napi_value exports) {
  using provider::export_function;
  export_function<comch_capability>(env, exports, "comchCapability");
  export_function<create_server>(env, exports, "createServer");
  export_function<create_client>(env, exports, "createClient");
  export_function<get_size>(env, exports, "comchSize");
  export_function<set_size>(env, exports, "setComchSize");
  export_function<send_message>(env, exports, "comchSend");
  export_function<disconnect>(env, exports, "comchDisconnect");
  export_function<update_info>(env, exports, "comchUpdateInfo");
  export_function<counters>(env, exports, "comchCounters");
  export_function<in_flight>(env, exports, "comchInFlight");
  export_function<forget>(env, exports, "comchForget");
  export_function<connections>(env, exports, "comchConnections");
  export_function<create_mmap>(env, exports, "createMmap");
  export_function<destroy_mmap>(env, exports, "destroyMmap");
  export_function<create_consumer>(env, exports, "createConsumer");
  export_function<create_producer>(env, exports, "createProducer");
  export_function<path_id>(env, exports, "pathId");
  export_function<post_receive>(env, exports, "postReceive");
  export_function<produce>(env, exports, "produce");
}

}  // namespace verbs::doca_comm::binding
