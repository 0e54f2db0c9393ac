// Reads a file of this machine whole: kubeconfigs, tokens, certificates. Any thread; blocks on the
// disk. Code that reads files takes a FileReader, so that tests hand in a table instead.

#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/base/result.h"

namespace detent {

// The content of the file at `path`. kNotFound must mean that there is no such file.
using FileReader = std::function<Result<std::string>(const std::string& path)>;

inline constexpr size_t kLocalFileBytesMax = 16 * 1024 * 1024;

// A pipe (a shell's process substitution) is read to its end. Errors name the path and the system's
// reason: kNotFound, kForbidden (no permission), kTooLarge (over kLocalFileBytesMax), kInvalid (a
// directory), kInternal (the disk).
Result<std::string> ReadLocalFile(const std::string& path);

}  // namespace detent
