// Memory that vanishes under the program's own regions while a device is open, whose threads block all signals and move
// the packets of the program's queue pairs as well.
#include <sys/mman.h>

#include <cstring>

#include "model/bluefield/model.h"
#include "test/support/pair.h"

using namespace verbs::doca_comm::model;
using verbs::doca_comm::model::test::Devices;
using verbs::doca_comm::model::test::until;

namespace {

constexpr std::size_t kPage = 4096;

// Two queue pairs of the host's device, connected to each other, and two pages: the first is for sending.
struct Loop {
  Loop() : verbs(attached_verbs()) {
    ibv_device** list = verbs->get_device_list(nullptr);
    for (ibv_device** each = list; *each; ++each) {
      if (std::strcmp(verbs->get_device_name(*each), "doca_host0") == 0) context = verbs->open_device(*each);
    }
    verbs->free_device_list(list);
    REQUIRE(context);
    pd = verbs->alloc_pd(context);
    cq = verbs->create_cq(context, 16, nullptr);
    for (char*& page : pages) {
      page = static_cast<char*>(mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    }
    for (int i = 0; i < 2; ++i)
      mrs[i] = verbs->reg_mr(pd, pages[i], kPage, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    REQUIRE((mrs[0] && mrs[1]));
    for (ibv_qp*& qp : qps) qp = create();
    connect(qps[0], *qps[1]);
    connect(qps[1], *qps[0]);
  }
  ~Loop() {
    for (ibv_qp* qp : qps) CHECK(verbs->destroy_qp(qp) == 0);
    for (ibv_mr* mr : mrs) CHECK(verbs->dereg_mr(mr) == 0);
    CHECK(verbs->destroy_cq(cq) == 0);
    CHECK(verbs->dealloc_pd(pd) == 0);
    CHECK(verbs->close_device(context) == 0);
    for (char* page : pages) munmap(page, kPage);
  }

  ibv_qp* create() const {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.qp_type = IBV_QPT_RC;
    init.sq_sig_all = 1;
    init.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    ibv_qp* qp = verbs->create_qp(pd, &init);
    REQUIRE(qp);
    return qp;
  }

  void connect(ibv_qp* qp, const ibv_qp& peer) const {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    REQUIRE(verbs->modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_1024;
    attr.dest_qp_num = peer.qp_num;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.port_num = 1;
    attr.ah_attr.grh.hop_limit = 64;
    REQUIRE(verbs->query_gid(context, 1, 0, &attr.ah_attr.grh.dgid) == 0);
    REQUIRE(verbs->modify_qp(qp, &attr,
                             IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = 14;
    attr.retry_cnt = 7;
    REQUIRE(verbs->modify_qp(qp, &attr,
                             IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                 IBV_QP_MAX_QP_RD_ATOMIC) == 0);
  }

  // Writes the first page to the second. Nobody polls at first, so that the device's threads move the packets.
  ibv_wc_status write() {
    ibv_sge sge{reinterpret_cast<std::uintptr_t>(pages[0]), kPage, mrs[0]->lkey};
    ibv_send_wr request{};
    request.opcode = IBV_WR_RDMA_WRITE;
    request.sg_list = &sge;
    request.num_sge = 1;
    request.wr.rdma = {.remote_addr = reinterpret_cast<std::uintptr_t>(pages[1]), .rkey = mrs[1]->rkey};
    REQUIRE(Verbs::post_send(qps[0], &request) == 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ibv_wc wc{};
    until([&] { return Verbs::poll(cq, 1, &wc) != 0; });
    return wc.status;
  }

  const Verbs* verbs;
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_cq* cq = nullptr;
  ibv_qp* qps[2] = {};
  char* pages[2] = {};
  ibv_mr* mrs[2] = {};
};

// The region stays, without its memory; nothing else is mapped there.
void vanish(char* page) { REQUIRE(mprotect(page, kPage, PROT_NONE) == 0); }

}  // namespace

TEST_CASE("memory that vanished is a local protection error while a device is open") {
  const Devices devices;
  Loop loop;
  CHECK(loop.write() == IBV_WC_SUCCESS);
  vanish(loop.pages[0]);
  CHECK(loop.write() == IBV_WC_LOC_PROT_ERR);
}

TEST_CASE("memory that vanished at the other end is a remote error while a device is open") {
  const Devices devices;
  Loop loop;
  CHECK(loop.write() == IBV_WC_SUCCESS);
  vanish(loop.pages[1]);
  const ibv_wc_status status = loop.write();
  CHECK((status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_OP_ERR));
}
