// Events of a channel.
#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "binding/id.h"

namespace verbs::rdmacm::binding {
namespace {

// Acknowledges the event when it goes: destroying an identifier waits for that.
class Event {
 public:
  Event(const Library& library, rdma_cm_event* event) : library_(library), event_(event) {}
  ~Event() { library_.rdma_ack_cm_event(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  const rdma_cm_event* operator->() const { return event_; }
  const rdma_cm_event& operator*() const { return *event_; }

 private:
  const Library& library_;
  rdma_cm_event* event_;
};

// Undefined if there is none.
napi_value write_private_data(napi_env env, const void* data, std::uint8_t length) {
  if (!data || length == 0) return undefined(env);
  napi_value buffer = nullptr;
  napi_value result = nullptr;
  void* to = nullptr;
  if (napi_create_arraybuffer(env, length, &to, &buffer) != napi_ok) return nullptr;
  std::memcpy(to, data, length);
  napi_create_typedarray(env, napi_uint8_array, length, buffer, 0, &result);
  return result;
}

napi_value write_conn_param(napi_env env, const rdma_conn_param& param) {
  napi_value result = object(env);
  set(env, result, "privateData", write_private_data(env, param.private_data, param.private_data_len));
  set(env, result, "responderResources", number(env, param.responder_resources));
  set(env, result, "initiatorDepth", number(env, param.initiator_depth));
  set(env, result, "flowControl", number(env, param.flow_control));
  set(env, result, "retryCount", number(env, param.retry_count));
  set(env, result, "rnrRetryCount", number(env, param.rnr_retry_count));
  set(env, result, "srq", number(env, param.srq));
  set(env, result, "qpNum", number(env, param.qp_num));
  return result;
}

// `attr` has the fields of a struct ibv_qp_attr; the address is its ahAttr.
napi_value write_ud_param(napi_env env, const rdma_ud_param& param, bool with_data) {
  ibv_qp_attr attr{};
  attr.ah_attr = param.ah_attr;
  napi_value result = object(env);
  if (with_data) {
    set(env, result, "privateData", write_private_data(env, param.private_data, param.private_data_len));
  }
  set(env, result, "attr", core()->write_qp_attr(env, &attr));
  set(env, result, "qpNum", number(env, param.qp_num));
  set(env, result, "qkey", number(env, param.qkey));
  return result;
}

bool of_multicast(rdma_cm_event_type event) {
  return event == RDMA_CM_EVENT_MULTICAST_JOIN || event == RDMA_CM_EVENT_MULTICAST_ERROR;
}

// Those that carry parameters. In other events the union may hold anything.
bool has_param(rdma_cm_event_type event) {
  switch (event) {
    case RDMA_CM_EVENT_CONNECT_REQUEST:
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
    case RDMA_CM_EVENT_REJECTED:
    case RDMA_CM_EVENT_ESTABLISHED:
    case RDMA_CM_EVENT_DISCONNECTED:
    case RDMA_CM_EVENT_MULTICAST_JOIN:
      return true;
    default:
      return false;
  }
}

// RDMA_CM_EVENT_USER, and the `arg` of its union, since release 60.
constexpr int kUserEvent = 18;

std::uint64_t argument_of(const rdma_cm_event& event) {
  std::uint64_t argument = 0;
  std::memcpy(&argument, &event.param, sizeof argument);
  return argument;
}

double key_of(napi_env env, rdma_cm_id* id) {
  const auto& ids = Environment::of(env)->ids;
  const auto found = id ? ids.find(id) : ids.end();
  return found == ids.end() ? 0 : found->second->key();
}

// getCmEvent(channel): { event, status, id, listenId, made?: { handle, key }, conn?, ud?, arg? } | -errno. The event is
// acknowledged before this returns. `id` and `listenId` are keys, 0 for none; `made` is the identifier of a request.
napi_value get_cm_event(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Taken keep;
  auto* channel = Child::of<Channel>(arguments, 0, &keep);
  if (!channel) return nullptr;
  const Library& library = channel->library();
  // A program may have changed the descriptor since.
  const int flags = fcntl(channel->get()->fd, F_GETFL);
  if (flags < 0) return failure(env, errno);
  if ((flags & O_NONBLOCK) == 0) static_cast<void>(fcntl(channel->get()->fd, F_SETFL, flags | O_NONBLOCK));
  rdma_cm_event* taken = nullptr;
  errno = 0;
  if (const int error = error_of(library.rdma_get_cm_event(channel->get(), &taken))) return failure(env, error);
  const Event event(library, taken);
  napi_value result = object(env);
  set(env, result, "event", number(env, event->event));
  set(env, result, "status", number(env, event->status));
  if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
    const napi_value made = Id::wrap(env, library, event->id, keep);
    if (!made) return nullptr;
    set(env, result, "made", made);
  }
  set(env, result, "id", number(env, key_of(env, event->id)));
  set(env, result, "listenId", number(env, key_of(env, event->listen_id)));
  if (static_cast<int>(event->event) == kUserEvent) set(env, result, "arg", big(env, argument_of(*event)));
  if (!has_param(event->event)) return result;
  if (of_multicast(event->event) || (event->id && event->id->qp_type == IBV_QPT_UD)) {
    // The private data of a multicast event is the context of the join.
    set(env, result, "ud", write_ud_param(env, event->param.ud, !of_multicast(event->event)));
  } else {
    set(env, result, "conn", write_conn_param(env, event->param.conn));
  }
  return result;
}

// writeCmEvent(id, status, argument: bigint): 0 | -errno
napi_value write_cm_event(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Taken keep;
  auto* id = Child::of<Id>(arguments, 0, &keep);
  if (!id) return nullptr;
  if (!id->library().rdma_write_cm_event) return failure(env, EOPNOTSUPP);
  const auto status = static_cast<int>(to_integer(env, arguments[1]));
  errno = 0;
  return failure(env,
                 error_of(id->library().rdma_write_cm_event(id->get(), kUserEvent, status, to_u64(env, arguments[2]))));
}

}  // namespace

void init_event(napi_env env, napi_value exports) {
  export_guarded<get_cm_event>(env, exports, "getCmEvent");
  export_guarded<write_cm_event>(env, exports, "writeCmEvent");
}

}  // namespace verbs::rdmacm::binding
