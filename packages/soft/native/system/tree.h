// The folders of RDMA devices as real files, in a private folder of this process below $VERBS_SOFT_SYSTEM: so that
// every call that takes a path or a descriptor works on them, once the path leads there.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "system/nic_library.h"

namespace verbs::soft::system {

// While it lives, the calls of this thread are this library's own, and go to libc as they are.
class Own {
 public:
  Own() : before_(active) { active = true; }
  ~Own() { active = before_; }
  Own(const Own&) = delete;
  Own& operator=(const Own&) = delete;

  static bool is_active() { return active; }

 private:
  inline static thread_local bool active = false;
  bool before_;
};

class Tree {
 public:
  static Tree& get();

  // Where a path of a program leads: nullopt if it is not of our devices. A relative path counts from `directory`
  // (a descriptor, or AT_FDCWD).
  struct Place {
    std::string path;  // in the file system
    std::string name;  // as the program means it: /dev/infiniband/uverbs0
  };
  std::optional<Place> find(int directory, const char* path);
  // Brings the content of a file up to date. EINVAL where reading the kernel's file fails; else 0.
  int refresh(const Place& place);

  // The name of a path in the file system, if it is in a tree: of this process or of another one.
  std::optional<std::string> name_of(std::string_view path) const;
  // Whether a descriptor may lead into a tree. Cheap.
  bool in_use() const { return in_use_; }

  // The process ends.
  static void remove_existing();

 private:
  void remove();
  Tree();
  static void after_fork_in_child();
  std::optional<std::string> name_of(int directory, const char* path) const;
  bool update();
  void populate();
  void populate_device(const std::string& device);
  void write(const std::string& name, const std::string& content);
  void link(const std::string& name, const std::string& target);
  void add_kernels_own();
  std::string device_of(std::string_view name, std::string_view* file) const;

  std::string base_;  // $VERBS_SOFT_SYSTEM; empty: there is nothing to do
  std::atomic<bool> in_use_{false};
  std::mutex mutex_;
  // -- under the lock
  std::string root_;  // base_/PROCESS
  pid_t process_ = 0;
  const NicLibrary* nic_ = nullptr;
  std::vector<std::string> devices_;
  std::set<std::string, std::less<>> kernels_own_;  // paths of real devices in these folders
  std::map<std::string, std::string> contents_;     // of files, by name
};

}  // namespace verbs::soft::system
