// ibv_buf: memory that the library allocates for a protection domain, since release 64. JavaScript reaches it by
// copies, since it goes with its object.
#pragma once

#include <cstddef>

#include "binding/memory/protection_domain.h"

namespace verbs::core {

class LibraryBuffer final : public Object {
 public:
  static constexpr verbs_core_kind kKind = VERBS_CORE_BUF;

  // Owns `buf`, whose memory is `length` bytes at `data`.
  LibraryBuffer(std::shared_ptr<ProtectionDomain> pd, ibv_buf* buf, std::byte* data, std::size_t length)
      : Object(kKind, {pd}), pd_(std::move(pd)), buf_(buf), data_(data), length_(length) {}
  ~LibraryBuffer() override { dispose(); }

  void* pointer() const override { return buf_; }
  const Context& context() const override { return pd_->context(); }
  const ProtectionDomain& pd() const { return *pd_; }
  ibv_buf* buf() const { return buf_; }
  std::byte* data() const { return data_; }
  std::size_t length() const { return length_; }

  static void init(Napi::Object exports);

 private:
  int destroy() override;
  int destroyed(int error) override;

  std::shared_ptr<ProtectionDomain> pd_;
  ibv_buf* buf_;
  std::byte* data_;
  std::size_t length_;
};

}  // namespace verbs::core
