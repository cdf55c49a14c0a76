#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace tessera::test {

/// Bytes of a GGUF file, right or wrong as a test wants it.
class GgufBuilder {
 public:
  template <class T>
  static std::string bytes_of(T value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  }
  static std::string text_of(const std::string& text) { return bytes_of<std::uint64_t>(text.size()) + text; }

  std::string magic = "GGUF";
  std::uint32_t version = 3;
  std::uint64_t extra_keys = 0, extra_tensors = 0;  // that are said to be there

  /// A key with the bytes of its value.
  void add_key(const std::string& key, std::uint32_t type, const std::string& value) {
    keys_.push_back(text_of(key) + bytes_of(type) + value);
  }
  /// Keys as a file has them, one behind the other.
  void add_keys(const std::string& bytes, std::uint64_t count) {
    keys_.push_back(bytes);
    extra_keys += count - 1;
  }
  void add_number(const std::string& key, std::uint32_t value) { add_key(key, 4, bytes_of(value)); }
  void add_text(const std::string& key, const std::string& value) { add_key(key, 8, text_of(value)); }
  void add_flag(const std::string& key, bool value) { add_key(key, 7, std::string(1, value ? '\1' : '\0')); }
  void add_texts(const std::string& key, const std::vector<std::string>& values) {
    std::string bytes = bytes_of<std::uint32_t>(8) + bytes_of<std::uint64_t>(values.size());
    for (const std::string& value : values) {
      bytes += text_of(value);
    }
    add_key(key, 9, bytes);
  }
  /// Numbers of the type of this number: 5 int32, 6 float32.
  template <class T>
  void add_numbers(const std::string& key, std::uint32_t type, const std::vector<T>& values) {
    std::string bytes = bytes_of(type) + bytes_of<std::uint64_t>(values.size());
    for (const T value : values) {
      bytes += bytes_of(value);
    }
    add_key(key, 9, bytes);
  }

  struct Tensor {
    std::string name;
    std::vector<std::uint64_t> dimensions;  // the first is that of neighbours
    std::uint32_t type = 0;
    std::string data;
    std::uint64_t offset = 0;  // set by add_tensor()
  };
  Tensor& add_tensor(Tensor tensor) {
    tensor.offset = end_;
    end_ = (end_ + tensor.data.size() + alignment - 1) / alignment * alignment;
    tensors.push_back(std::move(tensor));
    return tensors.back();
  }

  [[nodiscard]] std::string build() const {
    std::string bytes = magic + bytes_of(version) + bytes_of<std::uint64_t>(tensors.size() + extra_tensors) +
                        bytes_of<std::uint64_t>(keys_.size() + extra_keys);
    for (const std::string& key : keys_) {
      bytes += key;
    }
    for (const Tensor& tensor : tensors) {
      bytes += text_of(tensor.name) + bytes_of(static_cast<std::uint32_t>(tensor.dimensions.size()));
      for (const std::uint64_t dimension : tensor.dimensions) {
        bytes += bytes_of(dimension);
      }
      bytes += bytes_of(tensor.type) + bytes_of(tensor.offset);
    }
    for (const Tensor& tensor : tensors) {
      bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
      bytes += tensor.data;
    }
    return bytes;
  }

  std::size_t alignment = 32;
  std::vector<Tensor> tensors;

 private:
  std::vector<std::string> keys_;
  std::uint64_t end_ = 0;
};

}  // namespace tessera::test
