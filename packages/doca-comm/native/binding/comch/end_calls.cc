// Servers, clients, consumers, producers and their memory, for JavaScript. Connections have numbers.
#include <algorithm>
#include <iterator>

#include "binding/comch/arguments.h"
#include "binding/comch/calls.h"
#include "binding/comch/path.h"

namespace verbs::doca_comm::binding {

namespace {

// comchCapability(device, which): of `kCapabilities`; 0 or the error for what is supported or not.
Napi::Value comch_capability(const Napi::CallbackInfo& info) {
  const Device& device = kDevices.of(info, 0);
  const ComchFunctions* f = device.library().comch();
  const FastPathFunctions* fast = device.library().fast_path();
  if (!f) return failure(info.Env(), DOCA_ERROR_NOT_SUPPORTED);
  if (!device.get()) return failure(info.Env(), DOCA_ERROR_INVALID_VALUE);
  const doca_devinfo* its_info = device.functions().dev_as_devinfo(device.get());
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
  const std::uint32_t which = number_of<std::uint32_t>(info[1]);
  if (which < std::size(getters)) {
    std::uint32_t value = 0;
    const doca_error_t error = getters[which] ? getters[which](its_info, &value) : DOCA_ERROR_NOT_SUPPORTED;
    return error ? failure(info.Env(), error) : number(info.Env(), value);
  }
  const std::uint32_t test = which - static_cast<std::uint32_t>(std::size(getters));
  if (test >= std::size(tests)) return failure(info.Env(), DOCA_ERROR_INVALID_VALUE);
  return failure(info.Env(), tests[test] ? tests[test](its_info) : DOCA_ERROR_NOT_SUPPORTED);
}

// createServer(engine, device, representor, name), createClient(engine, device, name): { handle, id }, or the error
Napi::Value create_end(const Napi::CallbackInfo& info, const std::shared_ptr<OpenRepresentor>& representor,
                       std::size_t name) {
  const std::shared_ptr<Engine>& engine = kEngines.of(info, 0).engine;
  const Device& device = kDevices.of(info, 1);
  if (!device.get() || !engine->get() || &device.library() != &engine->library()) {
    return failure(info.Env(), DOCA_ERROR_INVALID_VALUE);
  }
  doca_error_t error = DOCA_SUCCESS;
  auto end = ComchEnd::create(*engine, device.open(), representor, string_of(info[name]), &error);
  return end ? give_context(info.Env(), engine, std::move(end)) : failure(info.Env(), error);
}
Napi::Value create_client(const Napi::CallbackInfo& info) { return create_end(info, nullptr, 2); }
Napi::Value create_server(const Napi::CallbackInfo& info) {
  const Representor& representor = kRepresentors.of(info, 2);
  const Device& device = kDevices.of(info, 1);
  if (!representor.get() || &representor.library() != &device.library()) {
    return failure(info.Env(), DOCA_ERROR_INVALID_VALUE);
  }
  return create_end(info, representor.open(), 3);
}

ComchEnd& end_of(Napi::Value handle) {
  return context_of<ComchEnd>(
      handle, [](Context::Kind kind) { return kind == Context::Kind::kServer || kind == Context::Kind::kClient; });
}
ComchPath& path_of(Napi::Value handle) {
  return context_of<ComchPath>(
      handle, [](Context::Kind kind) { return kind == Context::Kind::kConsumer || kind == Context::Kind::kProducer; });
}
// comchSize(end, which), setComchSize(end, which, size): 0 message, 1 receive queue, 2 send tasks
Napi::Value get_size(const Napi::CallbackInfo& info) {
  const ComchEnd& end = end_of(info[0]);
  std::uint32_t size = 0;
  const auto which = number_of<ComchEnd::Size>(info[1]);
  const doca_error_t error = end.get_size(which, &size);
  return error ? failure(info.Env(), error) : number(info.Env(), size);
}
Napi::Value set_size(const Napi::CallbackInfo& info) {
  ComchEnd& end = end_of(info[0]);
  const auto which = number_of<ComchEnd::Size>(info[1]);
  return failure(info.Env(), end.set_size(which, number_of<std::uint32_t>(info[2])));
}

// comchSend(end, connection, message, cookie, limit): AGAIN where so many messages to the peer are in flight
Napi::Value send_message(const Napi::CallbackInfo& info) {
  ComchEnd& end = end_of(info[0]);
  const Bytes message = bytes_of(info[2]);
  return failure(info.Env(), end.send(number_of<std::uint32_t>(info[1]), message.data, message.size,
                                      number_of<std::uint32_t>(info[3]), number_of<std::uint32_t>(info[4])));
}

// comchDisconnect(server, connection), comchUpdateInfo(end, connection), comchCounters(end, connection, out): messages
// and bytes sent, messages and bytes received, messages in flight into a BigUint64Array
Napi::Value disconnect(const Napi::CallbackInfo& info) {
  ComchEnd& end = end_of(info[0]);
  return failure(info.Env(), end.disconnect(number_of<std::uint32_t>(info[1])));
}
Napi::Value update_info(const Napi::CallbackInfo& info) {
  ComchEnd& end = end_of(info[0]);
  return failure(info.Env(), end.update_info(number_of<std::uint32_t>(info[1])));
}
Napi::Value counters(const Napi::CallbackInfo& info) {
  const ComchEnd& end = end_of(info[0]);
  const auto out = words_of<std::uint64_t>(info[2]);
  std::uint64_t values[ComchEnd::kCounters] = {};
  if (out.size < std::size(values)) return failure(info.Env(), DOCA_ERROR_INVALID_VALUE);
  const doca_error_t error = end.counters(number_of<std::uint32_t>(info[1]), values);
  if (error == DOCA_SUCCESS) std::copy(std::begin(values), std::end(values), out.data);
  return failure(info.Env(), error);
}

// comchInFlight(end): messages whose tasks have not completed
Napi::Value in_flight(const Napi::CallbackInfo& info) {
  const ComchEnd& end = end_of(info[0]);
  return number(info.Env(), end.in_flight());
}

// comchForget(end, connection): of one that is gone, the counters are not needed any more.
Napi::Value forget(const Napi::CallbackInfo& info) {
  ComchEnd& end = end_of(info[0]);
  end.forget(number_of<std::uint32_t>(info[1]));
  return info.Env().Undefined();
}

// comchConnections(end, out): how many there are; the numbers of as many as fit into `out`
Napi::Value connections(const Napi::CallbackInfo& info) {
  const ComchEnd& end = end_of(info[0]);
  const auto out = words_of<std::uint32_t>(info[1]);
  std::size_t count = 0;
  for (const auto& entry : end.connections()) {
    if (entry.second->pointer == nullptr) continue;
    if (count < out.size) out.data[count] = entry.first;
    ++count;
  }
  return number(info.Env(), static_cast<double>(count));
}

// createMmap(device, length, permissions): { handle, buffer }, or the error. The ArrayBuffer has the memory for good.
Napi::Value create_mmap(const Napi::CallbackInfo& info) {
  const Device& device = kDevices.of(info, 0);
  if (!device.library().fast_path()) return failure(info.Env(), DOCA_ERROR_NOT_SUPPORTED);
  const std::int64_t length = number_of<std::int64_t>(info[1]);
  if (!device.get() || length <= 0) return failure(info.Env(), DOCA_ERROR_INVALID_VALUE);
  doca_error_t error = DOCA_SUCCESS;
  auto mmap = Mmap::create(device.open(), static_cast<std::size_t>(length), number_of<std::uint32_t>(info[2]), &error);
  if (!mmap) return failure(info.Env(), error);
  const std::shared_ptr<Pages> pages = mmap->pages();

  napi_value buffer = nullptr;
  const napi_status status = external_buffer(info.Env(), pages->data(), pages->length(), pages, &buffer);
  if (status == napi_no_external_buffers_allowed) return failure(info.Env(), DOCA_ERROR_NOT_SUPPORTED);
  if (status != napi_ok) return failure(info.Env(), DOCA_ERROR_NO_MEMORY);
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("handle", kMmaps.give(info.Env(), std::make_unique<std::shared_ptr<Mmap>>(std::move(mmap))));
  result.Set("buffer", buffer);
  return result;
}

// destroyMmap(mmap): IN_USE while a consumer or a transfer has it
Napi::Value destroy_mmap(const Napi::CallbackInfo& info) {
  std::shared_ptr<Mmap>& mmap = kMmaps.of(info, 0);
  if (mmap && mmap.use_count() > 1) return failure(info.Env(), DOCA_ERROR_IN_USE);
  mmap.reset();
  return failure(info.Env(), DOCA_SUCCESS);
}

// createConsumer(end, connection, tasks, mmap), createProducer(end, connection, tasks): { handle, id }, or the error
Napi::Value create_path(const Napi::CallbackInfo& info, const std::shared_ptr<Mmap>& mmap) {
  ComchEnd& end = end_of(info[0]);
  const Connection* connection = end.live(number_of<std::uint32_t>(info[1]));
  const std::uint32_t tasks = number_of<std::uint32_t>(info[2]);
  constexpr std::uint32_t kMost = 1u << 20;
  if (!end.engine().library().fast_path()) return failure(info.Env(), DOCA_ERROR_NOT_SUPPORTED);
  if (!connection) return failure(info.Env(), DOCA_ERROR_NOT_CONNECTED);
  if (tasks == 0 || tasks > kMost) return failure(info.Env(), DOCA_ERROR_INVALID_VALUE);
  doca_error_t error = DOCA_SUCCESS;
  auto path = ComchPath::create(end, *connection, mmap, tasks, &error);
  return path ? give_context(info.Env(), kContexts.of(info, 0).engine, std::move(path)) : failure(info.Env(), error);
}
Napi::Value create_producer(const Napi::CallbackInfo& info) { return create_path(info, nullptr); }
Napi::Value create_consumer(const Napi::CallbackInfo& info) {
  const std::shared_ptr<Mmap>& mmap = kMmaps.of(info, 3);
  const ComchEnd& end = end_of(info[0]);
  if (!mmap || &mmap->library() != &end.engine().library()) return failure(info.Env(), DOCA_ERROR_INVALID_VALUE);
  return create_path(info, mmap);
}

// pathId(path): its id at the peer, or the error
Napi::Value path_id(const Napi::CallbackInfo& info) {
  const ComchPath& path = path_of(info[0]);
  std::uint32_t id = 0;
  const doca_error_t error = path.get_id(&id);
  return error ? failure(info.Env(), error) : number(info.Env(), id);
}

// postReceive(consumer, offset, length, cookie)
Napi::Value post_receive(const Napi::CallbackInfo& info) {
  ComchPath& path = path_of(info[0]);
  const std::int64_t offset = number_of<std::int64_t>(info[1]);
  if (offset < 0) return failure(info.Env(), DOCA_ERROR_INVALID_VALUE);
  return failure(info.Env(), path.post_receive(static_cast<std::uint64_t>(offset), number_of<std::uint64_t>(info[2]),
                                               number_of<std::uint32_t>(info[3])));
}

// produce(producer, mmap, offset, length, immediate, consumer, cookie)
napi_value produce(napi_env env, napi_callback_info info) {
  const PlainArguments<7> arguments(env, info);
  ComchPath& path = path_of(arguments[0]);
  const std::shared_ptr<Mmap>& mmap = kMmaps.of(arguments[1]);
  const auto offset = number_of<std::int64_t>(arguments[2]);
  if (offset < 0 || !mmap) return failure(env, DOCA_ERROR_INVALID_VALUE);
  const Bytes immediate = bytes_of(arguments[4]);
  const doca_error_t error =
      path.send(mmap, static_cast<std::uint64_t>(offset), number_of<std::uint64_t>(arguments[3]), immediate.data,
                static_cast<std::uint32_t>(std::min<std::size_t>(immediate.size, UINT32_MAX)),
                number_of<std::uint32_t>(arguments[5]), number_of<std::uint32_t>(arguments[6]));
  return failure(env, error);
}

}  // namespace

void init_comch(Napi::Object exports) {
  export_function<comch_capability>(exports, "comchCapability");
  export_function<create_server>(exports, "createServer");
  export_function<create_client>(exports, "createClient");
  export_function<get_size>(exports, "comchSize");
  export_function<set_size>(exports, "setComchSize");
  export_function<send_message>(exports, "comchSend");
  export_function<disconnect>(exports, "comchDisconnect");
  export_function<update_info>(exports, "comchUpdateInfo");
  export_function<counters>(exports, "comchCounters");
  export_function<in_flight>(exports, "comchInFlight");
  export_function<forget>(exports, "comchForget");
  export_function<connections>(exports, "comchConnections");
  export_function<create_mmap>(exports, "createMmap");
  export_function<destroy_mmap>(exports, "destroyMmap");
  export_function<create_consumer>(exports, "createConsumer");
  export_function<create_producer>(exports, "createProducer");
  export_function<path_id>(exports, "pathId");
  export_function<post_receive>(exports, "postReceive");
  export_plain<produce>(exports, "produce");
}

}  // namespace verbs::doca_comm::binding
