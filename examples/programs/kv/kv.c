// A client of the key-value store kv.mjs: kv HOST PORT get KEY, kv HOST PORT put KEY VALUE.
//   cc -o kv kv.c -lrdmacm -libverbs
#include <endian.h>
#include <inttypes.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSlots = 1024, kSlot = 256 };

struct slot {
  uint64_t version;
  uint32_t key_size, value_size;
  char bytes[kSlot - 16];
};

static struct rdma_cm_id *id;
static struct ibv_mr *mr;
static struct {
  struct slot slot;
  uint64_t word;
} local;
static uint64_t table;  // the server's memory
static uint32_t rkey;

static void must(bool done, const char *what) {
  if (done) return;
  perror(what);
  exit(2);
}

static void connect_to(const char *host, const char *port) {
  struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP, .ai_qp_type = IBV_QPT_RC}, *there;
  must(rdma_getaddrinfo(host, port, &hints, &there) == 0, "rdma_getaddrinfo");
  struct ibv_qp_init_attr attr = {.cap = {4, 1, 1, 1, 0}, .sq_sig_all = 1};
  must(rdma_create_ep(&id, there, NULL, &attr) == 0, "rdma_create_ep");
  rdma_freeaddrinfo(there);
  struct rdma_conn_param param = {.initiator_depth = 4, .retry_count = 7, .rnr_retry_count = 7};
  must(rdma_connect(id, &param) == 0, "rdma_connect");
  // The library keeps the event of an identifier without a channel of the program's.
  char place[256] = "";
  memcpy(place, id->event->param.conn.private_data, id->event->param.conn.private_data_len);
  must(sscanf(place, "%" SCNx64 " %" SCNx32, &table, &rkey) == 2, "the server's table");
  mr = ibv_reg_mr(id->pd, &local, sizeof local, IBV_ACCESS_LOCAL_WRITE);
  must(mr != NULL, "ibv_reg_mr");
}

// One request, and its completion.
static void run(struct ibv_send_wr request, void *at, size_t size) {
  struct ibv_sge sge = {(uintptr_t)at, (uint32_t)size, mr->lkey};
  struct ibv_send_wr *bad;
  struct ibv_wc completion;
  request.sg_list = &sge;
  request.num_sge = 1;
  must(ibv_post_send(id->qp, &request, &bad) == 0, "ibv_post_send");
  must(rdma_get_send_comp(id, &completion) == 1, "rdma_get_send_comp");
  if (completion.status == IBV_WC_SUCCESS) return;
  fprintf(stderr, "kv: %s\n", ibv_wc_status_str(completion.status));
  exit(2);
}

static uint64_t address_of(unsigned slot) { return table + (uint64_t)slot * kSlot; }

static void transfer(enum ibv_wr_opcode opcode, uint64_t remote, void *at, size_t size) {
  run((struct ibv_send_wr){.opcode = opcode, .wr.rdma = {remote, rkey}}, at, size);
}

static uint64_t version_of(unsigned slot) {
  transfer(IBV_WR_RDMA_READ, address_of(slot), &local.word, sizeof local.word);
  return le64toh(local.word);
}

// Reads the slot at rest, and gives its version.
static uint64_t read_slot(unsigned slot) {
  for (;;) {
    transfer(IBV_WR_RDMA_READ, address_of(slot), &local.slot, sizeof local.slot);
    const uint64_t version = le64toh(local.slot.version);
    if (version % 2 == 0 && version_of(slot) == version) return version;
  }
}

static bool exchange(unsigned slot, uint64_t from, uint64_t to) {
  const struct ibv_send_wr request = {.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
                                      .wr.atomic = {address_of(slot), from, to, rkey}};
  run(request, &local.word, sizeof local.word);
  return le64toh(local.word) == from;
}

static bool has_key(const char *key) {
  const size_t size = strlen(key);
  return le32toh(local.slot.key_size) == size && memcmp(local.slot.bytes, key, size) == 0;
}

// Where a key may be: from its hash on, up to the first slot that was never written.
static unsigned hash_of(const char *key) {
  uint32_t hash = 0x811c9dc5;  // FNV-1a
  for (; *key; ++key) hash = (hash ^ (unsigned char)*key) * 0x01000193;
  return hash;
}

static int get(const char *key) {
  for (unsigned probe = 0; probe < kSlots; ++probe) {
    if (read_slot((hash_of(key) + probe) % kSlots) == 0) return 1;
    if (!has_key(key)) continue;
    const size_t size = le32toh(local.slot.value_size);
    must(strlen(key) + size <= sizeof local.slot.bytes, "the slot");
    printf("%.*s\n", (int)size, local.slot.bytes + strlen(key));
    return 0;
  }
  return 1;
}

static int put(const char *key, const char *value) {
  const size_t key_size = strlen(key), value_size = strlen(value);
  if (key_size + value_size > sizeof local.slot.bytes) {
    fprintf(stderr, "kv: key and value have more than %zu bytes\n", sizeof local.slot.bytes);
    return 2;
  }
  for (unsigned probe = 0; probe < kSlots; ++probe) {
    const unsigned slot = (hash_of(key) + probe) % kSlots;
    for (;;) {
      const uint64_t version = read_slot(slot);
      if (version != 0 && !has_key(key)) break;
      // Another client may have written since.
      if (!exchange(slot, version, version + 1)) continue;
      local.slot.key_size = htole32((uint32_t)key_size);
      local.slot.value_size = htole32((uint32_t)value_size);
      memcpy(local.slot.bytes, key, key_size);
      memcpy(local.slot.bytes + key_size, value, value_size);
      transfer(IBV_WR_RDMA_WRITE, address_of(slot) + 8, &local.slot.key_size, 8 + key_size + value_size);
      exchange(slot, version + 1, version + 2);
      return 0;
    }
  }
  fprintf(stderr, "kv: the table is full\n");
  return 2;
}

int main(int argc, char **argv) {
  const bool gets = argc == 5 && strcmp(argv[3], "get") == 0;
  if (!gets && (argc != 6 || strcmp(argv[3], "put") != 0)) {
    fprintf(stderr, "kv HOST PORT get KEY | kv HOST PORT put KEY VALUE\n");
    return 2;
  }
  connect_to(argv[1], argv[2]);
  const int status = gets ? get(argv[4]) : put(argv[4], argv[5]);
  rdma_disconnect(id);
  ibv_dereg_mr(mr);
  rdma_destroy_ep(id);
  return status;
}
