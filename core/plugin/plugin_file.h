// A plugin's file, read once: what is checked is what is loaded.
//
// The bytes are copied into sealed memory. So nobody can change them between the check and the
// load, writing over the file cannot crash the host, and a changed file at the same path is a new
// image rather than the one the dynamic linker remembers by name. Any thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace detent {

class PluginFile {
 public:
  // Refuses, each with a sentence that follows the file's path: what is no absolute path, cannot be
  // read, is no 64-bit ELF shared object for this machine, or has another SHA-256 (64 hexadecimal
  // digits; empty: not checked).
  static Result<PluginFile> Open(const std::string& path, std::string_view sha256);

  PluginFile(PluginFile&& other) noexcept;
  PluginFile& operator=(PluginFile&& other) noexcept;
  ~PluginFile();

  const std::string& sha256() const { return sha256_; }

  // A path to load from. It names this process by number, not as "self": a debugger or profiler
  // that looks from outside finds the symbols there for as long as the process lives.
  std::string LoadPath() const;

  // Leaves the descriptor open for the life of the process, so that LoadPath stays good.
  void KeepOpen() { fd_ = -1; }

 private:
  PluginFile(int fd, std::string sha256) : fd_(fd), sha256_(std::move(sha256)) {}
  int fd_ = -1;
  std::string sha256_;
};

// The check of the header alone, for its test: empty if `bytes` begin a shared object that this
// machine can load, else what is wrong with it.
std::string ElfObjection(std::string_view bytes);

}  // namespace detent
