// The cost of a push into a user FIFO of a Gaudi: batches of 32 doorbells, each a plain 64-bit store. Waiting for space
// does not count. The doorbells name no queue pair, so that only the FIFO is measured.
#include <dlfcn.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "fail.h"
#include "hbl_doorbell.h"
#include "hbldv.h"
#include "result.h"

enum { BATCH = 32, ENTRY = 8, RESERVE = 2 };

static void *symbol(void *library, const char *name) {
  void *found = library ? dlsym(library, name) : NULL;
  if (!found) fail("%s is not there: is the libhbl.so.1 of the model on LD_LIBRARY_PATH?", name);
  return found;
}

int main(int argc, char **argv) {
  const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) / BATCH * BATCH : 0;
  if (count == 0) fail("usage: doorbell_push COUNT");
  void *verbs = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_GLOBAL);
  void *hbl = dlopen("libhbl.so.1", RTLD_NOW);
  struct ibv_device **(*get_list)(int *) = (struct ibv_device * *(*)(int *)) symbol(verbs, "ibv_get_device_list");
  struct ibv_context *(*open)(struct ibv_device *, struct hbldv_ucontext_attr *) =
      (struct ibv_context * (*)(struct ibv_device *, struct hbldv_ucontext_attr *)) symbol(hbl, "hbldv_open_device");
  struct hbldv_usr_fifo *(*create)(struct ibv_context *, struct hbldv_usr_fifo_attr *) =
      (struct hbldv_usr_fifo * (*)(struct ibv_context *, struct hbldv_usr_fifo_attr *))
          symbol(hbl, "hbldv_create_usr_fifo");
  struct ibv_device **list = get_list(NULL);
  struct ibv_context *context = list && list[0] ? open(list[0], NULL) : NULL;
  if (!context) fail("no hbl device can be opened");
  struct hbldv_usr_fifo_attr attr = {.port_num = 1, .usr_fifo_type = HBLDV_USR_FIFO_TYPE_DB};
  struct hbldv_usr_fifo *fifo = create(context, &attr);
  if (!fifo || fifo->regs_cpu_addr == (void *)-1) fail("no FIFO with mapped registers can be made");
  volatile uint64_t *target = (volatile uint64_t *)((char *)fifo->regs_cpu_addr + fifo->regs_offset);
  const volatile uint32_t *consumer = fifo->ci_cpu_addr;
  const uint32_t entries = fifo->size / ENTRY;
  const uint64_t doorbell = hbl_doorbell(0, 0xfffff0, 1);
  uint32_t index = 0;
  uint64_t spent = 0;
  for (uint64_t done = 0; done < count; done += BATCH) {
    while (entries - ((entries + index - *consumer) & (entries - 1)) < BATCH + RESERVE) sched_yield();
    const uint64_t start = now_ns();
    for (int i = 0; i < BATCH; ++i) *target = doorbell;
    spent += now_ns() - start;
    index = (index + BATCH) & (entries - 1);
  }
  printf("{\"unit\":\"ns\",\"push\":%.6g}\n", (double)spent / (double)count);
  return 0;
}
