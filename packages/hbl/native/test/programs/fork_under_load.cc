// fork() while threads open devices and create FIFOs: every lock of the model is free in the child, and no fork hangs.
// A child closes its parent's contexts, whose threads it does not have, and opens the device for itself.
#include "../../../../soft/native/test/fork_under_load.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "hbldv.h"

namespace {

ibv_device* devices[2];
ibv_context* parents;

bool use(ibv_context* context) {
  hbldv_port_ex_attr port{};
  port.port_num = 1;
  hbldv_usr_fifo_attr attr{};
  attr.port_num = 1;
  attr.usr_fifo_type = HBLDV_USR_FIFO_TYPE_DB;
  hbldv_set_port_ex(context, &port);
  if (hbldv_usr_fifo* fifo = hbldv_create_usr_fifo(context, &attr)) hbldv_destroy_usr_fifo(fifo);
  return ibv_close_device(context) == 0;
}

template <int index>
void use_device() {
  hbldv_ucontext_attr attr{};
  if (ibv_context* context = hbldv_open_device(devices[index], &attr)) use(context);
}

bool works_in_child() {
  hbldv_encap_attr encap{};
  if (hbldv_create_encap(parents, &encap) != nullptr) return false;
  if (ibv_close_device(parents) != 0) return false;
  hbldv_ucontext_attr attr{};
  ibv_context* context = hbldv_open_device(devices[0], &attr);
  return context ? use(context) : errno == EADDRINUSE || errno == EBUSY;
}

}  // namespace

int main() {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  if (count != 3) return 10;
  for (int i = 0; i < 2; ++i) devices[i] = list[i];
  hbldv_ucontext_attr attr{};
  parents = hbldv_open_device(list[2], &attr);
  hbldv_port_ex_attr port{};
  port.port_num = 1;
  hbldv_usr_fifo_attr fifo{};
  fifo.port_num = 1;
  fifo.usr_fifo_type = HBLDV_USR_FIFO_TYPE_DB;
  if (!parents || hbldv_set_port_ex(parents, &port) != 0 || !hbldv_create_usr_fifo(parents, &fifo)) return 11;
  const int status = verbs::soft::test::fork_under_load(1000, {use_device<0>, use_device<1>}, works_in_child);
  if (status != 0) std::printf("status %#x\n", status);
  return status != 0;
}
