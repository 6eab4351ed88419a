// The general services of a device: the connection manager behind queue pair 1, and the identifiers of its programs.
// Used under the device's lock.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cm/manager.h"
#include "host/adapter/identifiers.h"
#include "host/ports/port_stack.h"
#include "host/progress/clock.h"
#include "nic/nic.h"

namespace verbs::soft::host {

class Management final : public nic::MadSink, public cm::Outlet {
 public:
  // `id_base`: the first 12 bits of the numbers of connections; none: the device shares its addresses with nobody.
  explicit Management(std::optional<std::uint32_t> id_base);

  // Before any message passes.
  void attach(nic::Nic& nic, const std::vector<std::unique_ptr<PortStack>>& ports) { nic_ = &nic, ports_ = &ports; }

  cm::Manager& manager() { return manager_; }
  const cm::Manager& manager() const { return manager_; }
  Identifiers& identifiers() { return identifiers_; }
  // Whether messages were sent since the last call: they leave when the ports are flushed.
  bool has_output() const { return has_output_; }
  bool take_output() { return std::exchange(has_output_, false); }

  void mad(std::uint8_t port_num, const wire::Path& path, std::span<const std::uint8_t> bytes, Nanos now) override {
    manager_.deliver(port_num, path, bytes, now);
  }
  void send_mad(std::uint8_t port_num, const wire::Path& path, cm::MadView mad) override {
    nic_->send_mad(port_num, path, mad);
    has_output_ = true;
  }
  std::uint8_t path_mtu(std::uint8_t port_num, const wire::Path& path) override {
    const nic::Port* port = nic_->ports().find(port_num);
    return port ? port->path_mtu(path.sgid, path.dgid) : IBV_MTU_256;
  }
  int announce(const verbs_soft_cm_listen_attr& attr) override;
  void withdraw(const verbs_soft_cm_listen_attr& attr) override;
  bool hand_over(const wire::Path& path, std::uint64_t service_id, bool datagrams, const wire::Gid& address,
                 cm::MadView mad) override;

 private:
  bool shares_;
  nic::Nic* nic_ = nullptr;
  const std::vector<std::unique_ptr<PortStack>>* ports_ = nullptr;
  bool has_output_ = false;
  cm::Manager manager_;
  Identifiers identifiers_;
};

}  // namespace verbs::soft::host
