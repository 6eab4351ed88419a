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
Napi::Value write_private_data(Napi::Env env, const void* data, std::uint8_t length) {
  return !data || length == 0 ? env.Undefined() : copied(env, data, length);
}

Napi::Value write_conn_param(Napi::Env env, const rdma_conn_param& param) {
  Napi::Object result = Napi::Object::New(env);
  result.Set("privateData", write_private_data(env, param.private_data, param.private_data_len));
  result.Set("responderResources", param.responder_resources);
  result.Set("initiatorDepth", param.initiator_depth);
  result.Set("flowControl", param.flow_control);
  result.Set("retryCount", param.retry_count);
  result.Set("rnrRetryCount", param.rnr_retry_count);
  result.Set("srq", param.srq);
  result.Set("qpNum", param.qp_num);
  return result;
}

// `attr` has the fields of a struct ibv_qp_attr; the address is its ahAttr.
Napi::Value write_ud_param(Napi::Env env, const rdma_ud_param& param, bool with_data) {
  ibv_qp_attr attr{};
  attr.ah_attr = param.ah_attr;
  Napi::Object result = Napi::Object::New(env);
  if (with_data) {
    result.Set("privateData", write_private_data(env, param.private_data, param.private_data_len));
  }
  result.Set("attr", checked(env, core()->write_qp_attr(env, &attr)));
  result.Set("qpNum", param.qp_num);
  result.Set("qkey", param.qkey);
  return result;
}

bool of_multicast(rdma_cm_event_type event) {
  return event == RDMA_CM_EVENT_MULTICAST_JOIN || event == RDMA_CM_EVENT_MULTICAST_ERROR;
}

// Those that carry parameters. In other events the union may hold anything.
bool has_param(const rdma_cm_event& event) {
  switch (event.event) {
    case RDMA_CM_EVENT_CONNECT_REQUEST:
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
    case RDMA_CM_EVENT_REJECTED:
    case RDMA_CM_EVENT_ESTABLISHED:
    case RDMA_CM_EVENT_DISCONNECTED:
    case RDMA_CM_EVENT_MULTICAST_JOIN:
      return true;
    case RDMA_CM_EVENT_UNREACHABLE:
      // The answer that rejects a lookup. Without an answer the status is an error.
      return event.status > 0 && event.id && event.id->qp_type == IBV_QPT_UD;
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

double key_of(Napi::Env env, rdma_cm_id* id) {
  const auto& ids = Environment::of(env)->ids;
  const auto found = id ? ids.find(id) : ids.end();
  return found == ids.end() ? 0 : found->second->key();
}

// getCmEvent(channel): { event, status, id, listenId, made?: { handle, key }, conn?, ud?, arg? } | -errno. The event is
// acknowledged before this returns. `id` and `listenId` are keys, 0 for none; `made` is the identifier of a request.
Napi::Value get_cm_event(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto channel = take<Channel>(info, 0);
  const Library& library = channel->library();
  // A program may have changed the descriptor since.
  const int flags = fcntl(channel->get()->fd, F_GETFL);
  if (flags < 0) return failure(env, errno);
  if ((flags & O_NONBLOCK) == 0) static_cast<void>(fcntl(channel->get()->fd, F_SETFL, flags | O_NONBLOCK));
  rdma_cm_event* taken = nullptr;
  errno = 0;
  if (const int error = error_of(library.rdma_get_cm_event(channel->get(), &taken))) return failure(env, error);
  const Event event(library, taken);
  Napi::Object result = Napi::Object::New(env);
  result.Set("event", number(env, event->event));
  result.Set("status", event->status);
  if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
    // It is known here from now on: libraries keep the events of one that is not to themselves.
    event->id->context = event->id;
    result.Set("made", Id::wrap(env, library, event->id, channel));
  }
  result.Set("id", key_of(env, event->id));
  result.Set("listenId", key_of(env, event->listen_id));
  if (static_cast<int>(event->event) == kUserEvent) result.Set("arg", big(env, argument_of(*event)));
  if (!has_param(*event)) return result;
  if (of_multicast(event->event) || (event->id && event->id->qp_type == IBV_QPT_UD)) {
    // The private data of a multicast event is the context of the join.
    result.Set("ud", write_ud_param(env, event->param.ud, !of_multicast(event->event)));
  } else {
    result.Set("conn", write_conn_param(env, event->param.conn));
  }
  return result;
}

// writeCmEvent(id, status, argument: bigint): 0 | -errno
Napi::Value write_cm_event(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto id = take<Id>(info, 0);
  if (!id->library().rdma_write_cm_event) return failure(env, EOPNOTSUPP);
  const auto status = number_of<int>(info[1]);
  errno = 0;
  return failure(env, error_of(id->library().rdma_write_cm_event(id->get(), kUserEvent, status, u64_of(info[2]))));
}

}  // namespace

void init_event(Napi::Object exports) {
  export_function<get_cm_event>(exports, "getCmEvent");
  export_function<write_cm_event>(exports, "writeCmEvent");
}

}  // namespace verbs::rdmacm::binding
