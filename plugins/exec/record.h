// Records: the format of the small files in a task's directory, readable for people and parsed
// without an allocation. A file is a sequence of
//
//   name length LF value LF
//
// where value has `length` bytes of any kind. A name may come again; unknown names are skipped by
// whoever reads. No thread rules: the reader works in the buffer it is given.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace detent::exec {

struct Record {
  const char* name = nullptr;  // NUL-terminated
  char* value = nullptr;       // NUL-terminated, may contain further NULs
  size_t length = 0;

  bool Is(const char* other) const { return std::strcmp(name, other) == 0; }

  // The value as a decimal number; 0 for anything else.
  int64_t Number() const {
    const bool negative = length > 0 && value[0] == '-';
    int64_t number = 0;
    for (size_t i = negative ? 1 : 0; i < length; ++i) {
      if (value[i] < '0' || value[i] > '9' || number > INT64_MAX / 10 - 1) return 0;
      number = number * 10 + (value[i] - '0');
    }
    return negative ? -number : number;
  }
};

// Walks the records of a buffer, which it changes: separators become NUL.
class RecordReader {
 public:
  RecordReader(char* data, size_t size) : at_(data), end_(data + size) {}

  // False at the end, and for good where the bytes are no record; complete() tells which.
  bool Next(Record* out) {
    char* const name = at_;
    char* const space = Find(at_, ' ');
    char* const line = space == nullptr ? nullptr : Find(space, '\n');
    if (line == nullptr) return false;
    size_t length = 0;
    for (const char* digit = space + 1; digit < line; ++digit) {
      if (*digit < '0' || *digit > '9' || length > (size_t{1} << 40)) return false;
      length = length * 10 + static_cast<size_t>(*digit - '0');
    }
    char* const value = line + 1;
    if (static_cast<size_t>(end_ - value) <= length || value[length] != '\n') return false;
    *space = '\0';
    value[length] = '\0';
    *out = Record{name, value, length};
    at_ = value + length + 1;
    return true;
  }

  bool complete() const { return at_ == end_; }

 private:
  char* Find(char* from, char what) const {
    return static_cast<char*>(std::memchr(from, what, static_cast<size_t>(end_ - from)));
  }

  char* at_;
  char* end_;
};

// Writes records into a buffer of fixed size; what does not fit is left out as a whole.
template <size_t kCapacity>
class RecordWriter {
 public:
  RecordWriter& Text(const char* name, const char* value, size_t length) {
    char digits[24];
    const size_t count = Digits(length, digits);
    const size_t name_length = std::strlen(name);
    if (size_ + name_length + count + length + 3 > kCapacity) return *this;
    Put(name, name_length).Put(" ", 1).Put(digits, count).Put("\n", 1);
    return Put(value, length).Put("\n", 1);
  }
  RecordWriter& Text(const char* name, const char* value) {
    return Text(name, value, std::strlen(value));
  }
  RecordWriter& Int(const char* name, int64_t value) {
    char text[24] = "-";
    const size_t sign = value < 0 ? 1 : 0;
    const uint64_t magnitude =
        value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
    return Text(name, text, sign + Digits(magnitude, text + sign));
  }

  const char* data() const { return data_; }
  size_t size() const { return size_; }

  // Decimal digits of value, at most 20; returns how many.
  static size_t Digits(uint64_t value, char* out) {
    char reversed[20];
    size_t count = 0;
    do {
      reversed[count++] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    for (size_t i = 0; i < count; ++i) out[i] = reversed[count - 1 - i];
    return count;
  }

 private:
  RecordWriter& Put(const char* bytes, size_t length) {
    std::memcpy(data_ + size_, bytes, length);
    size_ += length;
    return *this;
  }

  char data_[kCapacity];
  size_t size_ = 0;
};

}  // namespace detent::exec
