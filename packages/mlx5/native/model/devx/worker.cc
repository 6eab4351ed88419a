// The thread that serves the queue pairs of devx commands.
#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "model/devx/queues.h"
#include "verbs_soft_worker.h"

namespace verbs::mlx5::model {
namespace {

using namespace std::chrono_literals;

pid_t served_in = 0;  // the process that has the thread. Under the model's mutex

// One round over all queue pairs. Whether any had work, and whether there are any.
bool serve(bool* any) {
  bool worked = false;
  live<DevxObject>().each([&](DevxObject& object) {
    auto* qp = dynamic_cast<DevxQp*>(&object);
    if (!qp) return;
    *any = true;
    worked |= qp->step();
  });
  return worked;
}

void run() {
  // Soon after work there is more of it; queue pairs that rest cost a thousand looks a second.
  constexpr std::chrono::microseconds kShort = 20us, kLong = 1ms;
  constexpr int kPatience = 200;
  for (int idle = 0;; ++idle) {
    {
      const ModelLock guard(model_mutex());
      bool any = false;
      if (serve(&any)) idle = 0;
      if (!any) {
        served_in = 0;
        return;
      }
    }
    if (idle > 0) std::this_thread::sleep_for(idle < kPatience ? kShort : kLong);
  }
}

}  // namespace

void serve_queue_pairs() {
  const pid_t self = getpid();
  if (served_in == self) return;
  const soft::model::WorkerSignals none_of_the_program;
  std::thread(run).detach();
  served_in = self;
}

}  // namespace verbs::mlx5::model
