// Text in a room of fixed size. What does not fit is left out, and the text is not whole() then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace verbs::soft::system {

class Text {
 public:
  // With a zero behind, always.
  Text(char* to, std::size_t room) : to_(to), room_(room) { to_[0] = '\0'; }

  Text& add(std::string_view more) {
    if (more.size() >= room_ - size_) {
      whole_ = false;
      return *this;
    }
    std::memcpy(to_ + size_, more.data(), more.size());
    resize(size_ + more.size());
    return *this;
  }
  Text& add(char letter) { return add(std::string_view(&letter, 1)); }
  Text& add_number(std::uint64_t number) {
    char digits[20];
    std::size_t first = sizeof digits;
    do {
      digits[--first] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return add(std::string_view(digits + first, sizeof digits - first));
  }
  // Shorter, or by letters that the caller has written.
  void resize(std::size_t size) {
    size_ = size;
    to_[size_] = '\0';
  }

  bool whole() const { return whole_; }
  std::size_t size() const { return size_; }
  std::string_view view() const { return {to_, size_}; }
  const char* c_str() const { return to_; }

 private:
  char* to_;
  std::size_t room_;
  std::size_t size_ = 0;
  bool whole_ = true;
};

template <std::size_t room>
class TextOf : public Text {
 public:
  TextOf() : Text(letters_, room) {}
  TextOf(const TextOf&) = delete;
  TextOf& operator=(const TextOf&) = delete;
  char* letters() { return letters_; }

 private:
  char letters_[room];
};

// "/proc/self/fd/7"
inline void add_descriptor_path(Text* text, int fd) {
  text->add("/proc/self/fd/").add_number(static_cast<std::uint64_t>(fd));
}

}  // namespace verbs::soft::system
