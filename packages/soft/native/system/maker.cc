#include "system/maker.h"

#include <dlfcn.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "machine/folder.h"
#include "system/kernel.h"
#include "system/text.h"
#include "system/tree.h"

namespace verbs::soft::system {

namespace {

constexpr std::size_t kPathRoom = 4096;

// The models whose names VERBS_SOFT_MODELS has: so that their devices are there also for programs that do not load a
// vendor's library.
void load_models(void* extension) {
  const char* names = std::getenv("VERBS_SOFT_MODELS");
  while (names && *names != '\0') {
    const char* end = std::strchr(names, ':');
    TextOf<256> name;
    name.add(end ? std::string_view(names, static_cast<std::size_t>(end - names)) : std::string_view(names));
    void* model = name.whole() && name.size() > 0 ? dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    using Load = int(void*);
    auto* load = model ? reinterpret_cast<Load*>(dlsym(model, "verbs_soft_model_load")) : nullptr;
    if (load) load(extension);
    names = end ? end + 1 : nullptr;
  }
}

// A text without a kind needs no model; a file may.
bool needs_models() {
  const char* configuration = std::getenv("VERBS_SOFT");
  return configuration && (configuration[0] == '/' || std::strstr(configuration, "kind="));
}

// The NIC makes the tree when the devices are listed.
void list_devices() {
  void* verbs = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
  if (void* extension = verbs ? dlsym(verbs, "verbs_soft_extension") : nullptr) {
    if (needs_models()) load_models(extension);
    using List = void*(int*);
    if (auto* list = reinterpret_cast<List*>(dlsym(verbs, "ibv_get_device_list"))) list(nullptr);
    return;
  }
  // Not our libibverbs: the NIC beside this library has the devices without a vendor's model.
  static const int kHere = 0;
  Dl_info self{};
  if (dladdr(&kHere, &self) == 0) return;
  TextOf<kPathRoom> path;
  const char* slash = std::strrchr(self.dli_fname, '/');
  if (slash) path.add(std::string_view(self.dli_fname, static_cast<std::size_t>(slash + 1 - self.dli_fname)));
  path.add("libverbs-soft-nic.so.1");
  using Name = const char*(unsigned);
  void* nic = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (auto* name = nic ? reinterpret_cast<Name*>(dlsym(nic, "verbs_soft_device_name")) : nullptr) name(0);
}

void enter(std::string_view name) {
  TextOf<machine::kRootRoom> root, path, target;
  add_root(&root);
  if (root.size() == 0) return;
  path.add(machine_folder()).add("/configurations");
  syscall(SYS_mkdirat, AT_FDCWD, path.c_str(), 0755);
  path.add('/').add(name);
  target.add("..").add(std::string_view(root.c_str() + machine_folder().size(), root.size() - machine_folder().size()));
  if (path.whole() && target.whole()) syscall(SYS_symlinkat, target.c_str(), AT_FDCWD, path.c_str());
}

}  // namespace

// In a process of its own: the program does not get the NIC's library, which it may not use.
void make_tree_for(std::string_view name) {
  sigset_t only_child, before;
  sigemptyset(&only_child);
  sigaddset(&only_child, SIGCHLD);
  // Blocked, the signal of this child can be taken away, so that the program does not see it.
  if (sigprocmask(SIG_BLOCK, &only_child, &before) != 0) return;
  sigset_t pending;
  const bool pends = sigpending(&pending) == 0 && sigismember(&pending, SIGCHLD) == 1;
  const pid_t child = fork();
  if (child == 0) {
    list_devices();
    enter(name);
    _exit(0);
  }
  if (child > 0) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
    constexpr timespec kNoTime{};
    if (!pends) sigtimedwait(&only_child, nullptr, &kNoTime);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace verbs::soft::system
