#include "abi/model/connection_manager.h"

#include <algorithm>
#include <cerrno>

#include "abi/objects/objects.h"
#include "cm/manager.h"

namespace verbs::soft::abi {
namespace {

cm::Data data_of(const verbs_soft_cm_data& data) {
  return {static_cast<const std::uint8_t*>(data.bytes), data.bytes ? data.size : 0};
}

// Runs `call(manager, now)` under the device's lock.
template <typename Call>
int with_manager(ibv_context* context, Call&& call) {
  host::Adapter* adapter = of(context)->adapter;
  return adapter->core.control(
      [&](nic::Nic&, link::Nanos now) { return call(adapter->core.engine.connections(), now); });
}

int begin(nic::Nic& nic, const verbs_soft_cm_path& path) {
  const nic::Port* port = nic.ports().find(path.port_num);
  const wire::Gid source = wire::Gid::from_bytes(path.sgid);
  return port && port->owns(source) ? port->use(source) : EADDRNOTAVAIL;
}

// Calls `visit(port_num, index, gid)` for each address until it returns true. Whether it did.
template <typename Visit>
bool any_address(nic::Nic& nic, Visit&& visit) {
  for (std::uint8_t port_num = 1; const nic::Port* port = nic.ports().find(port_num); ++port_num) {
    for (std::uint32_t index = 0; index < port->gids().size(); ++index) {
      const wire::Gid& gid = port->gids()[index];
      if (!gid.is_zero() && !port->gid_kind(index).holds_place && visit(port_num, index, gid)) return true;
    }
  }
  return false;
}

// For calls after which the program frees the owner: what cannot be sent for want of memory is not sent.
template <typename Call>
void end(ibv_context* context, Call&& call) {
  const auto run = [&](cm::Manager& manager, link::Nanos now) { return call(manager, now), 0; };
  if (contain([&] { return with_manager(context, run); }, [](int error) { return error; }) != ENOMEM) return;
  host::DeviceCore& core = of(context)->adapter->core;
  const std::lock_guard guard(core.lock);
  run(core.engine.connections(), host::now());
}

int find_address(ibv_context* context, const std::uint8_t* gid, std::uint8_t* port_num, std::uint32_t* index) {
  const wire::Gid wanted = wire::Gid::from_bytes(gid);
  return control(context, [&](nic::Nic& nic, link::Nanos) {
    const bool found = any_address(nic, [&](std::uint8_t port, std::uint32_t at, const wire::Gid& known) {
      if (known != wanted) return false;
      *port_num = port;
      *index = at;
      return true;
    });
    return found ? nic.ports()[*port_num].use(wanted) : EADDRNOTAVAIL;
  });
}

int address_like(ibv_context* context, const std::uint8_t* like, std::uint8_t* gid) {
  const bool ipv4 = wire::Gid::from_bytes(like).is_ipv4();
  return control(context, [&](nic::Nic& nic, link::Nanos) {
    const bool found = any_address(nic, [&](std::uint8_t, std::uint32_t, const wire::Gid& known) {
      if (known.is_ipv4() != ipv4) return false;
      std::ranges::copy(known.bytes, gid);
      return true;
    });
    return found ? 0 : EADDRNOTAVAIL;
  });
}

int reach(ibv_context* context, std::uint8_t port_num, const std::uint8_t* sgid, const std::uint8_t* dgid,
          std::uint8_t* path_mtu) {
  wire::Path path;
  path.sgid = wire::Gid::from_bytes(sgid);
  path.dgid = wire::Gid::from_bytes(dgid);
  return control(context, [&](nic::Nic& nic, link::Nanos) {
    const nic::Port* port = nic.ports().find(port_num);
    if (!port || !port->owns(path.sgid)) return EADDRNOTAVAIL;
    nic::Why why;
    if (const int error = port->use(&path, &why)) {
      nic.explain(nic::Place::kResolveAddr, error, why);
      return error;
    }
    *path_mtu = port->path_mtu(path.sgid, path.dgid);
    return 0;
  });
}

int listen(ibv_context* context, const verbs_soft_cm_listen_attr* attr, verbs_soft_cm_callback callback, void* owner,
           std::uint32_t* listener) {
  return with_manager(context, [&](cm::Manager& manager, link::Nanos now) {
    return manager.listen(*attr, {callback, owner}, now, listener);
  });
}

void unlisten(ibv_context* context, std::uint32_t listener) {
  end(context, [&](cm::Manager& manager, link::Nanos) { manager.unlisten(listener); });
}

int connect(ibv_context* context, const verbs_soft_cm_connect_attr* attr, verbs_soft_cm_callback callback, void* owner,
            std::uint32_t* connection) {
  return with_manager(context, [&](cm::Manager& manager, link::Nanos now) {
    if (const int error = begin(of(context)->adapter->core.nic(), attr->path)) return error;
    return manager.connect(*attr, {callback, owner}, now, connection);
  });
}

int accept(ibv_context* context, std::uint32_t connection, const verbs_soft_cm_end* end, verbs_soft_cm_data data) {
  return with_manager(context, [&](cm::Manager& manager, link::Nanos now) {
    return manager.accept(connection, *end, data_of(data), now);
  });
}

int ready(ibv_context* context, std::uint32_t connection, verbs_soft_cm_data data) {
  return with_manager(
      context, [&](cm::Manager& manager, link::Nanos now) { return manager.ready(connection, data_of(data), now); });
}

int reject(ibv_context* context, std::uint32_t connection, int reason, verbs_soft_cm_data data) {
  return with_manager(context, [&](cm::Manager& manager, link::Nanos now) {
    return manager.reject(connection, reason, data_of(data), now);
  });
}

int establish(ibv_context* context, std::uint32_t connection) {
  return with_manager(context,
                      [&](cm::Manager& manager, link::Nanos now) { return manager.establish(connection, now); });
}

int disconnect(ibv_context* context, std::uint32_t connection, verbs_soft_cm_data data) {
  return with_manager(context, [&](cm::Manager& manager, link::Nanos now) {
    return manager.disconnect(connection, data_of(data), now);
  });
}

int lookup(ibv_context* context, const verbs_soft_cm_lookup_attr* attr, verbs_soft_cm_callback callback, void* owner,
           std::uint32_t* connection) {
  return with_manager(context, [&](cm::Manager& manager, link::Nanos now) {
    if (const int error = begin(of(context)->adapter->core.nic(), attr->path)) return error;
    return manager.lookup(*attr, {callback, owner}, now, connection);
  });
}

int answer(ibv_context* context, std::uint32_t connection, int status, std::uint32_t qp_num, std::uint32_t qkey,
           verbs_soft_cm_data data) {
  return with_manager(context, [&](cm::Manager& manager, link::Nanos now) {
    return manager.answer(connection, status, qp_num, qkey, data_of(data), now);
  });
}

void release_connection(ibv_context* context, std::uint32_t connection) {
  end(context, [&](cm::Manager& manager, link::Nanos now) { manager.release(connection, now); });
}

int show(ibv_context* context, const void* key, const verbs_soft_cm_id* id) {
  host::DeviceCore& core = of(context)->adapter->core;
  if (const int error = core.reject_inherited()) return error;
  const std::lock_guard guard(core.lock);
  core.engine.identifiers().show(key, *id);
  return 0;
}

void hide(ibv_context* context, const void* key) {
  host::DeviceCore& core = of(context)->adapter->core;
  if (core.inherited()) return;
  const std::lock_guard guard(core.lock);
  core.engine.identifiers().hide(key);
}

}  // namespace

const verbs_soft_cm_table* connection_manager(std::uint32_t version) {
  static constexpr verbs_soft_cm_table kTable = {
      .version = VERBS_SOFT_CM_VERSION,
      .find_address = kGuarded<find_address>,
      .address_like = kGuarded<address_like>,
      .reach = kGuarded<reach>,
      .listen = kGuarded<listen>,
      .unlisten = unlisten,
      .connect = kGuarded<connect>,
      .accept = kGuarded<accept>,
      .ready = kGuarded<ready>,
      .reject = kGuarded<reject>,
      .establish = kGuarded<establish>,
      .disconnect = kGuarded<disconnect>,
      .lookup = kGuarded<lookup>,
      .answer = kGuarded<answer>,
      .release = release_connection,
      .show = kGuarded<show>,
      .hide = hide,
  };
  return version == VERBS_SOFT_CM_VERSION ? &kTable : nullptr;
}

}  // namespace verbs::soft::abi
