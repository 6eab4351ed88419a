#include "host/ports/port_stack.h"

#include <cerrno>

#include "link/neighbour.h"

namespace verbs::soft::host {

int PortStack::open(const PortSetup& setup, std::unique_ptr<PortStack>* port) {
  std::unique_ptr<PortStack> opened(new PortStack);
  if (const int error = opened->addresses_.open(setup)) return error;
  opened->hook_ = setup.hook;
  opened->port_num_ = setup.port_num;
  opened->stack_ = std::make_unique<LinkStack>(opened->addresses_.link());
  opened->watched_ = opened->hook_.changes_frames();
  if (opened->hook_.has_frames()) {
    opened->model_ = std::make_unique<ModelLink>(opened->stack_->top(), opened->hook_, opened->port_num_);
  }
  opened->set_faults(opened->make_faults(setup.config.faults));
  *port = std::move(opened);
  return 0;
}

// After each change of the stack. Needs no memory: frames never take the way through what is gone.
void PortStack::find_top() {
  link::Neighbourhood::changed();
  top_ = &stack_->top();
  if (!watched_) return;
  model_->redirect(*top_);
  top_ = model_.get();
}

int PortStack::watch(bool watched) {
  if (!hook_.only_watches()) return EOPNOTSUPP;
  watched_ = watched;
  find_top();
  return 0;
}

int PortStack::add_address(const wire::Gid& address) {
  if (const int error = addresses_.add(address)) return error;
  stack_->redirect(addresses_.link());
  find_top();
  return 0;
}

int PortStack::use(const wire::Gid& source) {
  if (!addresses_.offers(source)) return 0;
  if (const int error = add_address(source)) return error;
  changed_ = true;
  return 0;
}

// Of a service for every address, one that another user has is left out.
int PortStack::open_service(const link::Service& service) {
  const bool every = service.address.is_zero();
  const std::vector<wire::Gid> offered = addresses_.offered();
  for (const wire::Gid& address : offered) {
    if (every ? !service.is_at(address) : service.address != address) continue;
    const int error = use(address);
    if (error != 0 && !every) return error;
  }
  return addresses_.open_service(service);
}

// A server that was started before the network is reached by it, as on an adapter. An address that another user has, or
// that IPv6 still checks for a duplicate, is tried again after the next change.
void PortStack::follow_host(Nanos now, const std::function<void(const wire::Gid&)>& come,
                            const std::function<void(const wire::Gid&)>& gone) {
  if (!addresses_.follow_host(now, come, gone)) return;
  const std::vector<wire::Gid> offered = addresses_.offered();
  for (const wire::Gid& address : offered) {
    if (addresses_.serves(address)) (void)use(address);
  }
}

int PortStack::remove_address(const wire::Gid& address) {
  if (const int error = addresses_.remove(address)) return error;
  stack_->redirect(addresses_.link());
  find_top();
  return 0;
}

int PortStack::start_capture(const std::string& path, const CaptureConfig& capture) {
  // Completes the file of the old capture first: the new one may have the same name.
  stop_capture();
  std::unique_ptr<link::PcapngWriter> writer;
  const std::string& name = addresses_.port_name();
  const link::PcapngOptions options{.interface_name = name,
                                    .ethernet_name = hook_.has_raw_packets() ? name + " Ethernet" : "",
                                    .max_bytes = capture.max_bytes,
                                    .snap_length = capture.snap_length};
  if (const int error = link::PcapngWriter::open(path, options, &writer)) return error;
  stack_->start_capture(std::move(writer), link::CaptureInterface::kIp);
  find_top();
  return 0;
}

std::shared_ptr<link::PcapngWriter> PortStack::capture_writer() const { return stack_->writer(); }

int PortStack::stop_capture() {
  const std::shared_ptr<link::PcapngWriter> writer = stack_->writer();
  if (!writer) return 0;
  writer->flush();
  stack_->stop_capture();
  find_top();
  return writer->error();
}

void PortStack::flush_capture() {
  if (const auto writer = stack_->writer()) writer->flush();
}

void PortStack::abandon_capture() {
  if (const auto writer = stack_->writer()) writer->abandon();
}

void PortStack::set_faults(std::unique_ptr<link::FaultLink> faults) {
  stack_->set_faults(std::move(faults));
  timed_ = stack_->is_timed();
  find_top();
}

void PortStack::count(LinkCounters* counters) const {
  addresses_.count(counters);
  stack_->count(counters);
}

void PortStack::count_rules(std::vector<link::RuleCounters>* sums) const { stack_->count_rules(sums); }

}  // namespace verbs::soft::host
