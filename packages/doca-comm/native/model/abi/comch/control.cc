// The control path of Comch: capabilities, servers, clients, connections.
#include "model/comch/control.h"

#include "model/abi/common/versions.h"
#include "model/base/boundary.h"
#include "model/comch/client.h"
#include "model/comch/server.h"
#include "model/nic/faults.h"

VERBS_DOCA_STABLE(doca_comch_cap_client_is_supported);
VERBS_DOCA_STABLE(doca_comch_cap_get_max_clients);
VERBS_DOCA_STABLE(doca_comch_cap_get_max_msg_size);
VERBS_DOCA_STABLE(doca_comch_cap_get_max_name_len);
VERBS_DOCA_STABLE(doca_comch_cap_get_max_recv_queue_size);
VERBS_DOCA_STABLE(doca_comch_cap_get_max_send_tasks);
VERBS_DOCA_STABLE(doca_comch_cap_server_is_supported);
VERBS_DOCA_STABLE(doca_comch_client_as_ctx);
VERBS_DOCA_STABLE(doca_comch_client_create);
VERBS_DOCA_STABLE(doca_comch_client_destroy);
VERBS_DOCA_STABLE(doca_comch_client_event_consumer_register);
VERBS_DOCA_STABLE(doca_comch_client_event_msg_recv_register);
VERBS_DOCA_STABLE(doca_comch_client_get_client_ctx);
VERBS_DOCA_STABLE(doca_comch_client_get_connection);
VERBS_DOCA_STABLE(doca_comch_client_get_device);
VERBS_DOCA_STABLE(doca_comch_client_get_max_msg_size);
VERBS_DOCA_STABLE(doca_comch_client_get_recv_queue_size);
VERBS_DOCA_STABLE(doca_comch_client_set_max_msg_size);
VERBS_DOCA_STABLE(doca_comch_client_set_recv_queue_size);
VERBS_DOCA_STABLE(doca_comch_client_task_send_alloc_init);
VERBS_DOCA_STABLE(doca_comch_client_task_send_set_conf);
VERBS_DOCA_STABLE(doca_comch_connection_get_counter);
VERBS_DOCA_STABLE(doca_comch_connection_get_user_data);
VERBS_DOCA_STABLE(doca_comch_connection_set_user_data);
VERBS_DOCA_STABLE(doca_comch_connection_update_info);
VERBS_DOCA_STABLE(doca_comch_server_as_ctx);
VERBS_DOCA_STABLE(doca_comch_server_create);
VERBS_DOCA_STABLE(doca_comch_server_destroy);
VERBS_DOCA_STABLE(doca_comch_server_disconnect);
VERBS_DOCA_STABLE(doca_comch_server_event_connection_register);
VERBS_DOCA_STABLE(doca_comch_server_event_connection_status_changed_register);
VERBS_DOCA_STABLE(doca_comch_server_event_consumer_register);
VERBS_DOCA_STABLE(doca_comch_server_event_msg_recv_register);
VERBS_DOCA_STABLE(doca_comch_server_get_device);
VERBS_DOCA_STABLE(doca_comch_server_get_device_rep);
VERBS_DOCA_STABLE(doca_comch_server_get_device_repr);
VERBS_DOCA_STABLE(doca_comch_server_get_max_msg_size);
VERBS_DOCA_STABLE(doca_comch_server_get_recv_queue_size);
VERBS_DOCA_STABLE(doca_comch_server_get_server_ctx);
VERBS_DOCA_STABLE(doca_comch_server_set_max_msg_size);
VERBS_DOCA_STABLE(doca_comch_server_set_recv_queue_size);
VERBS_DOCA_STABLE(doca_comch_server_task_send_alloc_init);
VERBS_DOCA_STABLE(doca_comch_server_task_send_set_conf);
VERBS_DOCA_STABLE(doca_comch_task_send_as_task);

using verbs::doca_comm::model::Bluefield;
using verbs::doca_comm::model::contained;
using verbs::doca_comm::model::Fault;
using verbs::doca_comm::model::Faults;
using verbs::doca_comm::model::Statistics;
using verbs::doca_comm::model::comch::Client;
using verbs::doca_comm::model::comch::Control;
using verbs::doca_comm::model::comch::find_client;
using verbs::doca_comm::model::comch::find_link;
using verbs::doca_comm::model::comch::find_server;
using verbs::doca_comm::model::comch::Link;
using verbs::doca_comm::model::comch::Server;

namespace {

Control* of(const doca_comch_server* server) { return find_server(server); }
Control* of(const doca_comch_client* client) { return find_client(client); }

doca_error_t capability(const doca_devinfo* devinfo, std::uint32_t value, std::uint32_t* result) {
  return contained([&]() -> doca_error_t {
    if (!result || !Bluefield::get().knows(devinfo)) return DOCA_ERROR_INVALID_VALUE;
    if (Faults::get().next(Fault::kQueryDevice) != 0) return DOCA_ERROR_UNEXPECTED;
    *result = value;
    return DOCA_SUCCESS;
  });
}

doca_error_t role(const doca_devinfo* devinfo, bool dpu) {
  return contained([&]() -> doca_error_t {
    if (!Bluefield::get().knows(devinfo)) return DOCA_ERROR_INVALID_VALUE;
    return devinfo->options.dpu == dpu ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
  });
}

// `call` with the server or client, or INVALID_VALUE.
template <typename Handle, typename Call>
doca_error_t with(const Handle* handle, Call&& call) {
  return contained([&]() -> doca_error_t {
    Control* control = of(handle);
    return control ? call(*control) : DOCA_ERROR_INVALID_VALUE;
  });
}

template <typename Handle>
doca_error_t message_size(const Handle* handle, std::uint32_t* size) {
  return with(handle, [&](Control& control) {
    if (!size) return DOCA_ERROR_INVALID_VALUE;
    *size = control.sizes().message;
    return DOCA_SUCCESS;
  });
}

template <typename Handle>
doca_error_t receive_queue_size(const Handle* handle, std::uint32_t* size) {
  return with(handle, [&](Control& control) {
    if (!size) return DOCA_ERROR_INVALID_VALUE;
    *size = control.sizes().recv_queue;
    return DOCA_SUCCESS;
  });
}

template <typename Handle>
doca_error_t device(const Handle* handle, doca_dev** dev) {
  return with(handle, [&](Control& control) {
    if (!dev) return DOCA_ERROR_INVALID_VALUE;
    *dev = control.device();
    return DOCA_SUCCESS;
  });
}

template <typename Handle>
doca_error_t allocate(const Handle* handle, doca_comch_connection* peer, const void* msg, std::uint32_t len,
                      doca_comch_task_send** task) {
  return with(handle, [&](Control& control) {
    return msg && task ? control.allocate_send(peer, msg, len, task) : DOCA_ERROR_INVALID_VALUE;
  });
}

}  // namespace

extern "C" {

doca_error_t doca_comch_cap_server_is_supported(const doca_devinfo* devinfo) { return role(devinfo, true); }
doca_error_t doca_comch_cap_client_is_supported(const doca_devinfo* devinfo) { return role(devinfo, false); }
doca_error_t doca_comch_cap_get_max_name_len(const doca_devinfo* devinfo, std::uint32_t* max_name_len) {
  return capability(devinfo, verbs::doca_comm::model::kMaxNameLength, max_name_len);
}
doca_error_t doca_comch_cap_get_max_msg_size(const doca_devinfo* devinfo, std::uint32_t* size) {
  return capability(devinfo, verbs::doca_comm::model::comch::kMaxMessageSize, size);
}
doca_error_t doca_comch_cap_get_max_recv_queue_size(const doca_devinfo* devinfo, std::uint32_t* size) {
  return capability(devinfo, verbs::doca_comm::model::comch::kMaxReceiveQueue, size);
}
doca_error_t doca_comch_cap_get_max_send_tasks(const doca_devinfo* devinfo, std::uint32_t* max_send_tasks) {
  return capability(devinfo, verbs::doca_comm::model::comch::kMaxSendTasks, max_send_tasks);
}
doca_error_t doca_comch_cap_get_max_clients(const doca_devinfo* devinfo, std::uint32_t* num_clients) {
  const doca_error_t error = role(devinfo, true);
  return error == DOCA_SUCCESS ? capability(devinfo, devinfo->options.max_connections, num_clients) : error;
}

doca_error_t doca_comch_server_create(doca_dev* dev, doca_dev_rep* repr, const char* name,
                                      doca_comch_server** comch_server) {
  return contained([&]() -> doca_error_t {
    return name && comch_server ? Server::create(dev, repr, name, comch_server) : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_error_t doca_comch_server_destroy(doca_comch_server* comch_server) {
  return contained([&] { return verbs::doca_comm::model::comch::destroy_server(comch_server); });
}
doca_error_t doca_comch_server_set_max_msg_size(doca_comch_server* comch_server, std::uint32_t size) {
  return with(comch_server, [&](Control& control) { return control.set_message_size(size); });
}
doca_error_t doca_comch_server_get_max_msg_size(const doca_comch_server* comch_server, std::uint32_t* size) {
  return message_size(comch_server, size);
}
doca_error_t doca_comch_server_set_recv_queue_size(doca_comch_server* comch_server, std::uint32_t size) {
  return with(comch_server, [&](Control& control) { return control.set_receive_queue(size); });
}
doca_error_t doca_comch_server_get_recv_queue_size(const doca_comch_server* comch_server, std::uint32_t* size) {
  return receive_queue_size(comch_server, size);
}
doca_error_t doca_comch_server_get_device(const doca_comch_server* comch_server, doca_dev** dev) {
  return device(comch_server, dev);
}
doca_error_t doca_comch_server_get_device_rep(const doca_comch_server* comch_server, doca_dev_rep** rep) {
  return contained([&]() -> doca_error_t {
    const Server* server = find_server(comch_server);
    if (!server || !rep) return DOCA_ERROR_INVALID_VALUE;
    *rep = server->representor();
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_comch_server_get_device_repr(const doca_comch_server* comch_server, doca_dev_rep** rep) {
  return doca_comch_server_get_device_rep(comch_server, rep);
}
doca_ctx* doca_comch_server_as_ctx(doca_comch_server* comch_server) {
  const Control* control = of(comch_server);
  return control ? control->handle() : nullptr;
}
doca_error_t doca_comch_server_task_send_set_conf(doca_comch_server* comch_server,
                                                  doca_comch_task_send_completion_cb_t task_completion_cb,
                                                  doca_comch_task_send_completion_cb_t task_error_cb,
                                                  std::uint32_t num_send_tasks) {
  return with(comch_server, [&](Control& control) {
    return control.configure_send(task_completion_cb, task_error_cb, num_send_tasks);
  });
}
doca_error_t doca_comch_server_task_send_alloc_init(doca_comch_server* comch_server, doca_comch_connection* peer,
                                                    const void* msg, std::uint32_t len, doca_comch_task_send** task) {
  return allocate(comch_server, peer, msg, len, task);
}
doca_error_t doca_comch_server_event_msg_recv_register(doca_comch_server* comch_server,
                                                       doca_comch_event_msg_recv_cb_t recv_event_cb) {
  return with(comch_server, [&](Control& control) { return control.on_message(recv_event_cb); });
}
doca_error_t doca_comch_server_event_connection_status_changed_register(
    doca_comch_server* comch_server, doca_comch_event_connection_status_changed_cb_t connect_event_cb,
    doca_comch_event_connection_status_changed_cb_t disconnect_event_cb) {
  return contained([&]() -> doca_error_t {
    Server* server = find_server(comch_server);
    return server ? server->on_connection(connect_event_cb, disconnect_event_cb) : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_error_t doca_comch_server_event_connection_register(
    doca_comch_server* comch_server, doca_comch_event_connection_status_changed_cb_t connect_event_cb,
    doca_comch_event_connection_status_changed_cb_t disconnect_event_cb) {
  return doca_comch_server_event_connection_status_changed_register(comch_server, connect_event_cb,
                                                                    disconnect_event_cb);
}
doca_error_t doca_comch_server_event_consumer_register(doca_comch_server* comch_server,
                                                       doca_comch_event_consumer_cb_t new_consumer_event_cb,
                                                       doca_comch_event_consumer_cb_t expired_consumer_event_cb) {
  return with(comch_server,
              [&](Control& control) { return control.on_consumer(new_consumer_event_cb, expired_consumer_event_cb); });
}
doca_error_t doca_comch_server_disconnect(doca_comch_server* comch_server, doca_comch_connection* comch_connection) {
  return contained([&]() -> doca_error_t {
    Server* server = find_server(comch_server);
    Link* link = find_link(comch_connection);
    return server && link ? server->disconnect(*link) : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_comch_server* doca_comch_server_get_server_ctx(const doca_comch_connection* comch_connection) {
  const Link* link = find_link(comch_connection);
  const auto* server = link ? dynamic_cast<const Server*>(link->control) : nullptr;
  return server ? server->server() : nullptr;
}

doca_error_t doca_comch_client_create(doca_dev* dev, const char* name, doca_comch_client** comch_client) {
  return contained([&]() -> doca_error_t {
    return name && comch_client ? Client::create(dev, name, comch_client) : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_error_t doca_comch_client_destroy(doca_comch_client* comch_client) {
  return contained([&] { return verbs::doca_comm::model::comch::destroy_client(comch_client); });
}
doca_error_t doca_comch_client_set_max_msg_size(doca_comch_client* comch_client, std::uint32_t size) {
  return with(comch_client, [&](Control& control) { return control.set_message_size(size); });
}
doca_error_t doca_comch_client_get_max_msg_size(const doca_comch_client* comch_client, std::uint32_t* size) {
  return message_size(comch_client, size);
}
doca_error_t doca_comch_client_set_recv_queue_size(doca_comch_client* comch_client, std::uint32_t size) {
  return with(comch_client, [&](Control& control) { return control.set_receive_queue(size); });
}
doca_error_t doca_comch_client_get_recv_queue_size(const doca_comch_client* comch_client, std::uint32_t* size) {
  return receive_queue_size(comch_client, size);
}
doca_error_t doca_comch_client_get_device(const doca_comch_client* comch_client, doca_dev** dev) {
  return device(comch_client, dev);
}
doca_ctx* doca_comch_client_as_ctx(doca_comch_client* comch_client) {
  const Control* control = of(comch_client);
  return control ? control->handle() : nullptr;
}
doca_error_t doca_comch_client_task_send_set_conf(doca_comch_client* comch_client,
                                                  doca_comch_task_send_completion_cb_t task_completion_cb,
                                                  doca_comch_task_send_completion_cb_t task_error_cb,
                                                  std::uint32_t num_send_tasks) {
  return with(comch_client, [&](Control& control) {
    return control.configure_send(task_completion_cb, task_error_cb, num_send_tasks);
  });
}
doca_error_t doca_comch_client_task_send_alloc_init(doca_comch_client* comch_client, doca_comch_connection* peer,
                                                    const void* msg, std::uint32_t len, doca_comch_task_send** task) {
  return allocate(comch_client, peer, msg, len, task);
}
doca_error_t doca_comch_client_event_msg_recv_register(doca_comch_client* comch_client,
                                                       doca_comch_event_msg_recv_cb_t recv_event_cb) {
  return with(comch_client, [&](Control& control) { return control.on_message(recv_event_cb); });
}
doca_error_t doca_comch_client_event_consumer_register(doca_comch_client* comch_client,
                                                       doca_comch_event_consumer_cb_t new_consumer_event_cb,
                                                       doca_comch_event_consumer_cb_t expired_consumer_event_cb) {
  return with(comch_client,
              [&](Control& control) { return control.on_consumer(new_consumer_event_cb, expired_consumer_event_cb); });
}
doca_error_t doca_comch_client_get_connection(const doca_comch_client* comch_client,
                                              doca_comch_connection** connection) {
  return contained([&]() -> doca_error_t {
    const Client* client = find_client(comch_client);
    if (!client || !connection) return DOCA_ERROR_INVALID_VALUE;
    if (!client->running()) return DOCA_ERROR_BAD_STATE;
    *connection = client->connection();
    return DOCA_SUCCESS;
  });
}
doca_comch_client* doca_comch_client_get_client_ctx(const doca_comch_connection* comch_connection) {
  const Link* link = find_link(comch_connection);
  const auto* client = link ? dynamic_cast<const Client*>(link->control) : nullptr;
  return client ? client->client() : nullptr;
}

doca_task* doca_comch_task_send_as_task(doca_comch_task_send* task) { return task; }

doca_error_t doca_comch_connection_set_user_data(doca_comch_connection* comch_connection, doca_data user_data) {
  return contained([&]() -> doca_error_t {
    Link* link = find_link(comch_connection);
    if (!link) return DOCA_ERROR_INVALID_VALUE;
    link->user_data = user_data;
    return DOCA_SUCCESS;
  });
}
doca_data doca_comch_connection_get_user_data(const doca_comch_connection* comch_connection) {
  const Link* link = find_link(comch_connection);
  return link ? link->user_data : doca_data{};
}
doca_error_t doca_comch_connection_update_info(doca_comch_connection* comch_connection) {
  return contained([&]() -> doca_error_t {
    Link* link = find_link(comch_connection);
    return link ? link->control->update(*link) : DOCA_ERROR_INVALID_VALUE;
  });
}
doca_error_t doca_comch_connection_get_counter(const doca_comch_connection* comch_connection,
                                               doca_comch_counter counter, std::uint64_t* value) {
  return contained([&]() -> doca_error_t {
    static constexpr std::uint64_t Statistics::* kCounters[] = {&Statistics::send_messages, &Statistics::send_bytes,
                                                                &Statistics::recv_messages, &Statistics::recv_bytes};
    const Link* link = find_link(comch_connection);
    if (!link || !value || counter < DOCA_COMCH_COUNTER_SENT_MESSAGES || counter > DOCA_COMCH_COUNTER_RECV_BYTES) {
      return DOCA_ERROR_INVALID_VALUE;
    }
    *value = link->updated.*kCounters[counter - DOCA_COMCH_COUNTER_SENT_MESSAGES];
    return DOCA_SUCCESS;
  });
}

}  // extern "C"
