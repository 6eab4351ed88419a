// hbldv_create_usr_fifo and hbldv_destroy_usr_fifo.
#include "model/verbs/usr_fifo.h"

#include <cerrno>

namespace verbs::hbl::model {

namespace {

constexpr std::uint32_t kEntrySize = 8;

// A free number, from 1; a hint asks for exactly that one. 0: see `error`, an errno value.
std::uint32_t choose(const Port& port, std::uint32_t hint, int* error) {
  *error = EBUSY;
  if (hint != 0) {
    if (hint > kFifosPerPort) {
      *error = EINVAL;
      return 0;
    }
    return port.fifos[hint - 1] ? 0 : hint;
  }
  for (std::uint32_t number = 1; number <= kFifosPerPort; ++number) {
    if (!port.fifos[number - 1]) return number;
  }
  return 0;
}

int start_worker(Context& context) {
  if (context.worker) return 0;
  auto worker = std::make_unique<Worker>(context);
  if (const int error = worker->start()) return error;
  context.worker = std::move(worker);
  return 0;
}

// Two FIFOs with neighbouring hardware numbers share a page of registers.
RegisterPage* page_for(const Port& port, int hardware_id) {
  const UsrFifo* neighbour = port.fifos[static_cast<std::size_t>(hardware_id ^ 1)];
  return neighbour ? neighbour->page : RegisterPage::allocate(*soft());
}

int create(Context& context, const hbldv_usr_fifo_attr& attr, hbldv_usr_fifo** created) {
  if (const int error = context.check_port(attr.port_num, true)) return error;
  Port& port = context.port(attr.port_num);
  int error = 0;
  const std::uint32_t number = choose(port, attr.usr_fifo_num_hint, &error);
  if (number == 0) return error;
  if (attr.usr_fifo_type != HBLDV_USR_FIFO_TYPE_DB && attr.usr_fifo_type != HBLDV_USR_FIFO_TYPE_CC) return EINVAL;
  error = start_worker(context);
  if (error != 0) return error;
  auto owned = std::make_unique<UsrFifo>(context.worker->waker());
  UsrFifo* fifo = owned.get();
  Entry<decltype(context.fifos)> entry(std::move(owned));
  if (!fifo->consumer.allocate(sizeof(std::uint32_t))) return ENOMEM;
  const int hardware_id = static_cast<int>(number) - 1;
  fifo->port_num = attr.port_num;
  fifo->hardware_id = hardware_id;
  fifo->type = attr.usr_fifo_type;
  fifo->page = page_for(port, hardware_id);
  hbldv_usr_fifo& hbldv = fifo->hbldv;
  hbldv.ci_cpu_addr = fifo->consumer.as();
  hbldv.regs_cpu_addr = fifo->page ? fifo->page->address() : reinterpret_cast<void*>(-1);
  hbldv.regs_offset = hardware_id % 2 == 0 ? 0 : RegisterPage::kOddOffset;
  hbldv.usr_fifo_num = number;
  hbldv.size = DoorbellRing::kEntries * kEntrySize;
  hbldv.bp_thresh = hbldv.size / 2;
  if (fifo->page) fifo->page->connect(hardware_id % 2, &fifo->ring);
  port.fifos[number - 1] = fifo;
  *created = &hbldv;
  entry.add(context.fifos, &hbldv);
  return 0;
}

void destroy(Context& context, UsrFifo& fifo) {
  Port& port = context.port(fifo.port_num);
  const int id = fifo.hardware_id;
  if (fifo.page) {
    fifo.page->connect(id % 2, nullptr);
    if (!port.fifos[static_cast<std::size_t>(id ^ 1)]) RegisterPage::free(fifo.page);
  }
  port.fifos[static_cast<std::size_t>(id)] = nullptr;
  context.fifos.erase(&fifo.hbldv);
}

}  // namespace

void close_fifos(Context& context) {
  while (!context.fifos.empty()) destroy(context, *context.fifos.begin()->second);
}

hbldv_usr_fifo* hbldv_create_usr_fifo(ibv_context* verbs, hbldv_usr_fifo_attr* attr) {
  if (!verbs) return null_with<hbldv_usr_fifo>(EINVAL);
  Context* context = context_of(verbs);
  if (!context) return null_with<hbldv_usr_fifo>(EOPNOTSUPP);
  if (!attr) return null_with<hbldv_usr_fifo>(EINVAL);
  const std::lock_guard guard(context->mutex);
  hbldv_usr_fifo* created = nullptr;
  const int error = create(*context, *attr, &created);
  return error == 0 ? created : null_with<hbldv_usr_fifo>(error);
}

int hbldv_destroy_usr_fifo(hbldv_usr_fifo* usr_fifo) {
  Context* context = context_of_fifo(usr_fifo);
  if (!context) return EINVAL;
  const std::lock_guard guard(context->mutex);
  const auto found = context->fifos.find(usr_fifo);
  if (found == context->fifos.end()) return EINVAL;
  destroy(*context, *found->second);
  return 0;
}

}  // namespace verbs::hbl::model
