// README.md says what it does.
package main

/*
#cgo LDFLAGS: -libverbs
#include <infiniband/verbs.h>
#include <stdlib.h>

// Structures with unions are filled here.
static struct ibv_ah_attr address(const uint8_t *gid, uint8_t index) {
  struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = index, .hop_limit = 64}};
  for (int i = 0; i < 16; ++i) attr.grh.dgid.raw[i] = gid[i];
  return attr;
}

static int query_gid(struct ibv_context *context, int index, uint8_t *bytes) {
  union ibv_gid gid;
  const int error = ibv_query_gid(context, 1, index, &gid);
  for (int i = 0; i < 16; ++i) bytes[i] = gid.raw[i];
  return error;
}

static int post_receive(struct ibv_qp *qp, uint64_t id, void *bytes, uint32_t size, uint32_t key) {
  struct ibv_sge sge = {.addr = (uintptr_t)bytes, .length = size, .lkey = key};
  struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1}, *bad;
  return ibv_post_recv(qp, &wr, &bad);
}

static int post_message(struct ibv_qp *qp, uint64_t id, void *bytes, uint32_t size, uint32_t key) {
  struct ibv_sge sge = {.addr = (uintptr_t)bytes, .length = size, .lkey = key};
  struct ibv_send_wr wr = {
      .wr_id = id, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  struct ibv_send_wr *bad;
  return ibv_post_send(qp, &wr, &bad);
}
*/
import "C"

import (
	"bufio"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unsafe"
)

const (
	size = 1024
	sent = 1 << 32
)

func must(ok bool, what string) {
	if !ok {
		fmt.Fprintln(os.Stderr, what)
		os.Exit(1)
	}
}

func pattern(from, to, round, i int) byte { return byte(31*from + 17*to + 7*round + i) }

// In C's memory: two messages that come, and one that goes.
type connection struct {
	own, peer, came int
	memory          unsafe.Pointer
	mr              *C.struct_ibv_mr
	qp              *C.struct_ibv_qp
}

func newConnection(pd *C.struct_ibv_pd, cq *C.struct_ibv_cq, own, peer int) *connection {
	c := &connection{own: own, peer: peer, memory: C.malloc(3 * size)}
	c.mr = C.ibv_reg_mr(pd, c.memory, 3*size, C.IBV_ACCESS_LOCAL_WRITE)
	init := C.struct_ibv_qp_init_attr{send_cq: cq, recv_cq: cq, qp_type: C.IBV_QPT_RC}
	init.cap = C.struct_ibv_qp_cap{max_send_wr: 2, max_recv_wr: 2, max_send_sge: 1, max_recv_sge: 1}
	c.qp = C.ibv_create_qp(pd, &init)
	must(c.mr != nil && c.qp != nil, "a region and a queue pair")
	return c
}

func (c *connection) slot(which int) unsafe.Pointer { return unsafe.Add(c.memory, which*size) }

func (c *connection) bytes(which int) []byte { return unsafe.Slice((*byte)(c.slot(which)), size) }

func (c *connection) connect(number int, gid *[16]byte, index int) {
	attr := C.struct_ibv_qp_attr{qp_state: C.IBV_QPS_INIT, port_num: 1}
	mask := C.IBV_QP_STATE | C.IBV_QP_PKEY_INDEX | C.IBV_QP_PORT | C.IBV_QP_ACCESS_FLAGS
	must(C.ibv_modify_qp(c.qp, &attr, C.int(mask)) == 0, "INIT")
	c.receive(0)
	c.receive(1)
	attr.qp_state = C.IBV_QPS_RTR
	attr.path_mtu = C.IBV_MTU_1024
	attr.dest_qp_num = C.uint32_t(number)
	attr.max_dest_rd_atomic = 1
	attr.min_rnr_timer = 12
	attr.ah_attr = C.address((*C.uint8_t)(&gid[0]), C.uint8_t(index))
	mask = C.IBV_QP_STATE | C.IBV_QP_AV | C.IBV_QP_PATH_MTU | C.IBV_QP_DEST_QPN | C.IBV_QP_RQ_PSN |
		C.IBV_QP_MAX_DEST_RD_ATOMIC | C.IBV_QP_MIN_RNR_TIMER
	must(C.ibv_modify_qp(c.qp, &attr, C.int(mask)) == 0, "RTR")
	attr.qp_state = C.IBV_QPS_RTS
	attr.timeout = 14
	attr.retry_cnt = 7
	attr.rnr_retry = 7
	attr.max_rd_atomic = 1
	mask = C.IBV_QP_STATE | C.IBV_QP_TIMEOUT | C.IBV_QP_RETRY_CNT | C.IBV_QP_RNR_RETRY | C.IBV_QP_SQ_PSN |
		C.IBV_QP_MAX_QP_RD_ATOMIC
	must(C.ibv_modify_qp(c.qp, &attr, C.int(mask)) == 0, "RTS")
}

func (c *connection) receive(which int) {
	must(C.post_receive(c.qp, C.uint64_t(c.peer), c.slot(which), size, c.mr.lkey) == 0, "ibv_post_recv")
}

func (c *connection) send(round int) {
	for i := range c.bytes(2) {
		c.bytes(2)[i] = pattern(c.own, c.peer, round, i)
	}
	must(C.post_message(c.qp, sent, c.slot(2), size, c.mr.lkey) == 0, "ibv_post_send")
}

// A message has come: checks it, and returns its round.
func (c *connection) take() int {
	round := c.came
	c.came++
	for i, value := range c.bytes(round % 2) {
		must(value == pattern(c.peer, c.own, round, i), "a byte is wrong")
	}
	c.receive(round % 2)
	return round
}

func main() {
	var arguments [4]int
	for i := range arguments {
		arguments[i], _ = strconv.Atoi(os.Args[1+i])
	}
	own, count, index, rounds := arguments[0], arguments[1], arguments[2], arguments[3]
	input := bufio.NewScanner(os.Stdin)
	list := C.ibv_get_device_list(nil)
	must(list != nil && *list != nil, "no device")
	context := C.ibv_open_device(*list)
	must(context != nil, "ibv_open_device")
	pd := C.ibv_alloc_pd(context)
	cq := C.ibv_create_cq(context, C.int(4*count), nil, nil, 0)
	var gid [16]byte
	must(C.query_gid(context, C.int(index), (*C.uint8_t)(&gid[0])) == 0, "ibv_query_gid")
	peers := make([]*connection, count)
	numbers := make([]string, count)
	for peer := range peers {
		numbers[peer] = "0"
		if peer != own {
			peers[peer] = newConnection(pd, cq, own, peer)
			numbers[peer] = strconv.Itoa(int(peers[peer].qp.qp_num))
		}
	}
	fmt.Println("ready", netip.AddrFrom16(gid), strings.Join(numbers, " "))
	input.Scan()
	for peer, text := range strings.Fields(input.Text())[1:] {
		if peer != own {
			number, _ := strconv.Atoi(text)
			peers[peer].connect(number, &gid, index)
		}
	}
	fmt.Println("connected")
	input.Scan()
	messages := 0
	for round := 0; round < rounds; round++ {
		// Completions: of what it sends, and of the messages of this round that have not come before.
		awaited := 0
		for peer, c := range peers {
			if peer == own {
				continue
			}
			c.send(round)
			awaited++
			if c.came == round {
				awaited++
			}
		}
		for awaited > 0 {
			var wc C.struct_ibv_wc
			if C.ibv_poll_cq(cq, 1, &wc) == 0 {
				runtime.Gosched()
				continue
			}
			must(wc.status == C.IBV_WC_SUCCESS, "the status of a completion")
			if wc.wr_id == sent {
				awaited--
				continue
			}
			if peers[wc.wr_id].take() == round {
				awaited--
			}
			messages++
		}
	}
	fmt.Println("done", messages)
	for input.Scan() {
	}
}
