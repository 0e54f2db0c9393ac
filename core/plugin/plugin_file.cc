#include "core/plugin/plugin_file.h"

#include <elf.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

namespace detent {
namespace {

struct Machine {
  uint16_t number;
  const char* name;
};
constexpr Machine kMachines[] = {
    {EM_X86_64, "x86_64"}, {EM_AARCH64, "aarch64"}, {EM_386, "i386"},   {EM_ARM, "arm"},
    {EM_RISCV, "riscv64"}, {EM_PPC64, "ppc64"},     {EM_S390, "s390x"}, {EM_LOONGARCH, "loongarch"},
};

std::string MachineName(uint16_t number) {
  for (const Machine& machine : kMachines) {
    if (machine.number == number) return machine.name;
  }
  return "machine " + std::to_string(number);
}

constexpr uint16_t OwnMachine() {
#if defined(__x86_64__)
  return EM_X86_64;
#elif defined(__aarch64__)
  return EM_AARCH64;
#else
  return EM_NONE;
#endif
}

Error RefusedFile(std::string why) {
  return Error(Code::kInvalid, std::move(why));
}

Result<std::string> ReadAll(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) {
    return RefusedFile(std::string("cannot be opened (") + std::strerror(errno) +
                       "); check the path in the configuration");
  }
  const std::unique_ptr<const int, void (*)(const int*)> closer(&fd,
                                                                [](const int* f) { close(*f); });
  struct stat facts {};
  if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return RefusedFile("is no regular file; name the plugin's shared object itself");
  }
  std::string bytes(static_cast<size_t>(facts.st_size), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = read(fd, bytes.data() + done, bytes.size() - done);
    if (got < 0) return RefusedFile(std::string("cannot be read (") + std::strerror(errno) + ")");
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

std::string Sha256Of(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += "0123456789abcdef"[digest[i] >> 4];
    text += "0123456789abcdef"[digest[i] & 15];
  }
  return text;
}

Result<int> SealedCopy(const std::string& path, std::string_view bytes) {
  const std::string name = std::filesystem::path(path).filename().string();
  const int fd = memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  size_t done = 0;
  while (fd >= 0 && done < bytes.size()) {
    const ssize_t put = write(fd, bytes.data() + done, bytes.size() - done);
    if (put <= 0) break;
    done += static_cast<size_t>(put);
  }
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
  if (fd < 0 || done < bytes.size() || fcntl(fd, F_ADD_SEALS, kSeals) != 0) {
    const int reason = errno;
    if (fd >= 0) close(fd);
    return Error(Code::kInternal,
                 std::string("cannot be copied into memory (") + std::strerror(reason) + ")");
  }
  return fd;
}

}  // namespace

std::string ElfObjection(std::string_view bytes) {
  Elf64_Ehdr header{};
  if (bytes.size() < sizeof header || bytes.substr(0, SELFMAG) != ELFMAG) {
    return "is no ELF file; name the plugin's .so";
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return "is not a 64-bit little-endian ELF file; build the plugin for this machine";
  }
  if (header.e_machine != OwnMachine()) {
    return "is for " + MachineName(header.e_machine) + ", this host is " +
           MachineName(OwnMachine()) + "; install the plugin's build for this machine";
  }
  if (header.e_type != ET_DYN) return "is no shared object; build the plugin with -shared -fPIC";
  return "";
}

Result<PluginFile> PluginFile::Open(const std::string& path, std::string_view sha256) {
  if (path.empty() || path.front() != '/') {
    return RefusedFile("is no absolute path; write it with its directory");
  }
  const std::string bytes = TRY(ReadAll(path));
  const std::string objection = ElfObjection(bytes);
  if (!objection.empty()) return RefusedFile(objection);
  std::string digest = Sha256Of(bytes);
  if (!sha256.empty() && sha256 != digest) {
    return RefusedFile("has sha256 " + digest + ", but the configuration pins " +
                       std::string(sha256) +
                       "; install the pinned file, or change the pin if the new one is meant");
  }
  return PluginFile(TRY(SealedCopy(path, bytes)), std::move(digest));
}

PluginFile::PluginFile(PluginFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), sha256_(std::move(other.sha256_)) {}

PluginFile& PluginFile::operator=(PluginFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  sha256_ = std::move(other.sha256_);
  return *this;
}

PluginFile::~PluginFile() {
  if (fd_ >= 0) close(fd_);
}

std::string PluginFile::LoadPath() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd_);
}

}  // namespace detent
