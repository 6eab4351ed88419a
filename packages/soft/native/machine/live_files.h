// Files of devices as they are for this process, once its NIC has devices of its own: their GUIDs, addresses and link
// states, which differ from process to process. The NIC writes them when something changes; the preloaded library reads
// them, in signal handlers too.
//
// There are two copies. A writer fills the one that nobody reads and then makes it the present one, so that a reader
// which has interrupted a writer has a whole copy. A reader that is so slow that its copy is written again sees that
// by the version, and reads anew.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "machine/folder.h"

namespace verbs::soft::machine {

class LiveFiles {
 public:
  struct Copy {
    char root[kRootRoom];  // the tree of these devices
    std::size_t room;      // of `text`
    std::size_t size;
    char* text;  // of each file its path ("soft0/ports/1/gids/0") and its content, each with a zero behind
  };

  // -- for one writer at a time
  // The copy to fill, or to replace by a larger one: the old one must stay, since somebody may read it.
  std::atomic<Copy*>& next() { return copies_[(version_.load(std::memory_order_relaxed) + 1) & 1]; }
  void publish() { version_.fetch_add(1, std::memory_order_acq_rel); }

  // -- for readers
  // Calls `look(copy)`, maybe more than once, and returns its last result; `Result{}` if there is no copy.
  template <typename Look>
  auto read(const Look& look) const {
    using Result = decltype(look(std::declval<const Copy&>()));
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const std::uint64_t version = version_.load(std::memory_order_acquire);
      const Copy* copy = version == 0 ? nullptr : copies_[version & 1].load(std::memory_order_acquire);
      if (copy == nullptr) break;
      const Result result = look(*copy);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (version_.load(std::memory_order_relaxed) == version) return result;
    }
    return Result{};
  }

  // The content of a file in a copy that may change meanwhile; false if there is no such file.
  static bool find(const Copy& copy, std::string_view path, char* content, std::size_t* size) {
    const char* at = copy.text;
    const char* const end = at + (copy.size <= copy.room ? copy.size : 0);
    while (at < end) {
      const auto* path_end = static_cast<const char*>(std::memchr(at, '\0', static_cast<std::size_t>(end - at)));
      if (path_end == nullptr) break;
      const char* text = path_end + 1;
      const auto* text_end = static_cast<const char*>(std::memchr(text, '\0', static_cast<std::size_t>(end - text)));
      if (text_end == nullptr) break;
      if (std::string_view(at, static_cast<std::size_t>(path_end - at)) == path) {
        *size = static_cast<std::size_t>(text_end - text);
        if (*size > kContentRoom) *size = kContentRoom;
        std::memcpy(content, text, *size);
        return true;
      }
      at = text_end + 1;
    }
    return false;
  }

 private:
  static constexpr int kAttempts = 16;

  std::atomic<std::uint64_t> version_{0};  // of the present copy; 0: there is none
  std::atomic<Copy*> copies_[2] = {nullptr, nullptr};
};

}  // namespace verbs::soft::machine

// Of this process. Defined by the preloaded library, set by the NIC; without that library it is not there.
extern "C" __attribute__((visibility("default"), weak)) std::atomic<verbs::soft::machine::LiveFiles*>
    verbs_soft_live_files;
