#include "core/base/names.h"

#include <algorithm>

namespace detent {

namespace {

constexpr size_t kLabelLength = 63;
constexpr size_t kSubdomainLength = 253;

bool IsLowerOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool IsAlphanumeric(char c) {
  return IsLowerOrDigit(c) || (c >= 'A' && c <= 'Z');
}
bool IsHex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

Error BadName(std::string message) {
  return Error(Code::kInvalid, std::move(message));
}

Result<void> CheckLength(std::string_view text, size_t most) {
  if (text.empty()) return BadName("must not be empty");
  if (text.size() <= most) return {};
  return BadName("must be at most " + std::to_string(most) + " characters, not " +
                 std::to_string(text.size()));
}

// Lower case letters, digits and '-' inside, a letter or digit at both ends.
bool IsDnsLabel(std::string_view text) {
  return !text.empty() && IsLowerOrDigit(text.front()) && IsLowerOrDigit(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsLowerOrDigit(c) || c == '-'; });
}

bool IsNamePart(std::string_view text) {
  return !text.empty() && IsAlphanumeric(text.front()) && IsAlphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

constexpr const char* kNamePartRule =
    "must be letters, digits, '-', '_' or '.', and begin and end with a letter or digit";

uint64_t Fnv1a(uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

// Spreads every bit over all others, one to one: FNV alone leaves similar texts with similar
// hashes, and a few digits of a UID must be enough to tell them apart.
uint64_t Spread(uint64_t hash) {
  hash = (hash ^ (hash >> 33)) * 0xFF51AFD7ED558CCD;
  hash = (hash ^ (hash >> 33)) * 0xC4CEB9FE1A85EC53;
  return hash ^ (hash >> 33);
}

std::string EightDigits(std::string_view uid) {
  const std::string_view head = uid.substr(0, 8);
  if (head.size() == 8 && std::all_of(head.begin(), head.end(), IsHex)) return std::string(head);
  return DerivedUid(uid).substr(0, 8);
}

// What is cut may not end in a '.', which no '-' may follow.
std::string CutTo(std::string_view name, size_t length) {
  name = name.substr(0, length);
  while (!name.empty() && !IsLowerOrDigit(name.back())) name.remove_suffix(1);
  return std::string(name);
}

}  // namespace

Result<void> CheckDns1123Subdomain(std::string_view name) {
  TRY(CheckLength(name, kSubdomainLength));
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    if (!IsDnsLabel(name.substr(begin, end - begin))) {
      return BadName(
          "must be lower case letters, digits, '-' or '.', and each part between dots must begin "
          "and end with a letter or digit");
    }
    begin = end + 1;
  }
  return {};
}

Result<void> CheckDns1123Label(std::string_view name) {
  TRY(CheckLength(name, kLabelLength));
  if (IsDnsLabel(name)) return {};
  return BadName(
      "must be lower case letters, digits or '-', and begin and end with a letter or digit");
}

Result<void> CheckQualifiedName(std::string_view name) {
  const size_t slash = name.find('/');
  if (slash != name.npos) {
    auto prefix = CheckDns1123Subdomain(name.substr(0, slash));
    if (!prefix) return BadName("its part before the '/' " + prefix.error().message());
    name.remove_prefix(slash + 1);
  }
  TRY(CheckLength(name, kLabelLength));
  if (IsNamePart(name)) return {};
  return BadName(kNamePartRule);
}

Result<void> CheckLabelValue(std::string_view value) {
  if (value.empty()) return {};
  TRY(CheckLength(value, kLabelLength));
  if (IsNamePart(value)) return {};
  return BadName(kNamePartRule);
}

std::string SlotJobName(std::string_view job_config, int64_t slot_unix_seconds) {
  return std::string(job_config) + "-" + std::to_string(slot_unix_seconds);
}

std::string JobLabelValue(std::string_view job_name) {
  if (job_name.size() <= kLabelLength) return std::string(job_name);
  const std::string tail = "-" + DerivedUid(job_name).substr(0, 8);
  return CutTo(job_name, kLabelLength - tail.size()) + tail;
}

std::string TaskName(std::string_view job_name, std::string_view job_uid, int64_t index,
                     int64_t attempt) {
  const std::string tail = "-" + std::to_string(index) + "-" + std::to_string(attempt);
  if (job_name.size() + tail.size() <= kLabelLength) return std::string(job_name) + tail;
  const std::string digits = "-" + EightDigits(job_uid);
  return CutTo(job_name, kLabelLength - tail.size() - digits.size()) + digits + tail;
}

std::string TaskKey(std::string_view job_uid, int64_t index, int64_t attempt) {
  return std::string(job_uid) + "/" + std::to_string(index) + "/" + std::to_string(attempt);
}

std::string DerivedUid(std::string_view text) {
  constexpr uint64_t kBasis = 0xCBF29CE484222325;
  uint64_t high = Spread(Fnv1a(kBasis, text));
  uint64_t low = Spread(Fnv1a(~kBasis, text));
  high = (high & ~uint64_t{0xF000}) | 0x8000;                // The version.
  low = (low & ~(uint64_t{3} << 62)) | (uint64_t{1} << 63);  // The variant.
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string uid;
  for (int digit = 0; digit < 32; ++digit) {
    if (digit == 8 || digit == 12 || digit == 16 || digit == 20) uid += '-';
    const uint64_t half = digit < 16 ? high : low;
    uid += kHex[(half >> (60 - 4 * (digit % 16))) & 15];
  }
  return uid;
}

}  // namespace detent
