// Where a path of a program leads. For signal handlers too: no lock, and no memory but the stack.
#pragma once

#include <fcntl.h>

#include <cstdint>
#include <string_view>

#include "machine/folder.h"
#include "system/text.h"

namespace verbs::soft::system {

class Place {
 public:
  // A relative path counts from `directory`, a descriptor or AT_FDCWD.
  Place(int directory, const char* path);
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  // The path leads to our devices: path() is the file's in the file system.
  bool is_ours() const { return kind_ == Kind::kOurs; }
  // The file as the program means it: /dev/infiniband/uverbs0.
  std::string_view name() const;

  // What to hand to libc's function in place of the program's `directory` and `path`. A path that leads from our
  // folders to a file of the kernel is another one, too: the kernel does not have those folders.
  int directory() const { return kind_ == Kind::kKernels ? directory_ : AT_FDCWD; }
  const char* path() const { return kind_ == Kind::kKernels ? original_ : path_.c_str(); }

 private:
  enum class Kind : std::uint8_t { kKernels, kOurs, kLeftOurs };

  Kind find();
  bool start_from_directory(bool* inside);
  bool append(const char* path);
  void follow_links();
  bool is_kernels_own(std::string_view folder) const;
  std::string_view name_so_far() const;
  void leave();

  int directory_;
  const char* original_;
  Kind kind_ = Kind::kKernels;
  bool left_ours_ = false;  // ".." led out of our folders
  std::size_t root_size_ = 0;
  TextOf<machine::kRootRoom + machine::kNameRoom> path_;
};

// From now on descriptors and the working directory may lead into a tree, so that relative paths count.
void note_folder();
bool knows_folders();

}  // namespace verbs::soft::system
