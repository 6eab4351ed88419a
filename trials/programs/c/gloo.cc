// One of the ranks of gloo, over its ibverbs transport: gloo RANK SIZE INDEX STORE. INDEX: of the device's GID; STORE:
// a folder that all have. Each element of what the collectives give is checked.
#include <gloo/allgather_ring.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/barrier_all_to_all.h>
#include <gloo/broadcast_one_to_all.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/ibverbs/device.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

namespace {

int failures = 0;

void check(bool ok, const char* what, int count) {
  if (ok) return;
  ++failures;
  std::fprintf(stderr, "%s of %d elements is wrong\n", what, count);
}

int element(int rank, int i) { return (rank + 1) * 1000 + i % 997; }

std::vector<int> elements(int rank, int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) all[static_cast<std::size_t>(i)] = element(rank, i);
  return all;
}

// Its buffers are there for ever: gloo ends a process in which one goes before the completion of its message came.
template <typename Algorithm, typename... Arguments>
void run(Arguments&&... arguments) {
  (new Algorithm(std::forward<Arguments>(arguments)...))->run();
}

template <typename Algorithm>
void reduce(const std::shared_ptr<gloo::Context>& context, const char* what, int count) {
  std::vector<int> data = elements(context->rank, count);
  run<Algorithm>(context, std::vector<int*>{data.data()}, count);
  bool ok = true;
  for (int i = 0; i < count; ++i) {
    int sum = 0;
    for (int rank = 0; rank < context->size; ++rank) sum += element(rank, i);
    ok = ok && data[static_cast<std::size_t>(i)] == sum;
  }
  check(ok, what, count);
}

void broadcast(const std::shared_ptr<gloo::Context>& context, int root, int count) {
  std::vector<int> data = elements(context->rank, count);
  run<gloo::BroadcastOneToAll<int>>(context, std::vector<int*>{data.data()}, count, root);
  check(data == elements(root, count), "broadcast", count);
}

void gather(const std::shared_ptr<gloo::Context>& context, int count) {
  const std::vector<int> own = elements(context->rank, count);
  std::vector<int> all(static_cast<std::size_t>(count * context->size));
  run<gloo::AllgatherRing<int>>(context, std::vector<const int*>{own.data()}, all.data(), count);
  std::vector<int> expected;
  for (int rank = 0; rank < context->size; ++rank) {
    for (const int value : elements(rank, count)) expected.push_back(value);
  }
  check(all == expected, "allgather", count);
}

}  // namespace

int main(int, char** argv) {
  const int rank = std::atoi(argv[1]), size = std::atoi(argv[2]);
  gloo::transport::ibverbs::attr attr;
  attr.name = "soft0";
  attr.port = 1;
  attr.index = std::atoi(argv[3]);
  auto device = gloo::transport::ibverbs::CreateDevice(attr);
  gloo::rendezvous::FileStore store(argv[4]);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
  context->connectFullMesh(store, device);
  for (const int count : {1, 100, 10'000, 1'000'000}) {
    reduce<gloo::AllreduceRingChunked<int>>(context, "allreduce in a ring", count);
    reduce<gloo::AllreduceHalvingDoubling<int>>(context, "allreduce by halves", count);
    for (int root = 0; root < size; ++root) broadcast(context, root, count);
    gather(context, count);
  }
  run<gloo::BarrierAllToAll>(context);
  std::printf("rank %d of %d, %d failures\n", rank, size, failures);
  std::exit(failures == 0 ? 0 : 1);  // not by way of the destructors
}
