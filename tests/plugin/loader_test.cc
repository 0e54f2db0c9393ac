#include "core/plugin/loader.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/plugin/host_fixture.h"

namespace detent {
namespace {

using testing::PluginPath;

PluginConfig Config(const std::string& name, const std::string& kind = "broken") {
  PluginConfig config;
  config.path = PluginPath(name);
  config.kind = kind;
  return config;
}

std::string RefusalOf(const PluginConfig& config) {
  LoaderOptions options;
  options.probe_limit = std::chrono::milliseconds(1500);
  const auto loaded = LoadPlugin(config, options);
  return loaded ? "loaded" : loaded.error().message();
}

TEST(Loader, RefusesEachBrokenPluginWithItsReason) {
  struct Row {
    const char* plugin;
    const char* words;
    const char* because;
  };
  const Row rows[] = {
      {"no_entry", "exports no function detent_plugin_entry", "it is another library"},
      {"wrong_major", "was built for ABI 7.", "another major is never loaded"},
      {"answers_null", "its entry function answered NULL", "it does not speak our major"},
      {"empty_slot", "leaves the function 'kill' of executor 'broken' empty", "D-LOAD-1"},
      {"bad_kind", "names an executor kind 'Broken Kind'", "the kind is a field's name"},
      {"bad_size", "describes itself in an impossible size (3 bytes)", "garbage"},
      {"bad_id", "calls itself 'Not An Id'", "an id is reverse DNS"},
      {"twice", "offers the kind 'broken' twice", "which one would be meant"},
      {"wild_pointer", "ends the process that loads it (signal ", "the child dies of it"},
      {"hangs_in_init", "does not finish loading within 1500 ms", "the child is killed"},
      {"exits_in_init", "exits from the process that loads it (status 3", "the child is gone"},
      // dlopen is declared to throw nothing, so it is the compiler's whether the child lives on.
      {"throws_in_static_init", "boom", "it dies of it, or says so itself"},
      {"good", "offers 'good', but the configuration wants kind 'broken'", "the wrong file"},
  };
  for (const Row& row : rows) {
    const std::string refusal = RefusalOf(Config(row.plugin));
    EXPECT_NE(refusal.find(row.words), std::string::npos) << row.because << ": " << refusal;
    EXPECT_TRUE(refusal.starts_with("plugin " + PluginPath(row.plugin))) << refusal;
    EXPECT_EQ(refusal.back(), '.');
  }
}

TEST(Loader, SaysWhatAnExceptionInAStaticInitialiserSaid) {
  const std::string refusal = RefusalOf(Config("throws_in_static_init"));
  EXPECT_NE(refusal.find("boom"), std::string::npos) << refusal;
}

TEST(Loader, RefusesWhatIsWrongInTheConfiguration) {
  PluginConfig config = Config("good", "good");
  config.isolation = "process";
  EXPECT_NE(RefusalOf(config).find("this version offers in_process only"), std::string::npos);
  config = Config("good", "good");
  config.sha256 = std::string(64, '0');
  EXPECT_NE(RefusalOf(config).find("but the configuration pins 000"), std::string::npos);
  config = Config("good", "good");
  config.path = "plugins/good.so";
  EXPECT_NE(RefusalOf(config).find("is no absolute path"), std::string::npos);
  config.path = "/no/such/file.so";
  EXPECT_NE(RefusalOf(config).find("cannot be opened (No such file"), std::string::npos);
  config.path = "/tmp";
  EXPECT_NE(RefusalOf(config).find("is no regular file"), std::string::npos);
}

TEST(Loader, LoadsAPluginWhoseHashIsPinned) {
  PluginConfig config = Config("good", "good");
  const auto first = LoadPlugin(config);
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_EQ(first->id, "dev.detent.test.good");
  EXPECT_EQ(first->version, "0.1.0");
  config.sha256 = first->sha256;
  EXPECT_TRUE(LoadPlugin(config));
}

TEST(Loader, LoadsTheNewFileThatTookThePlaceOfTheOld) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("detent-loader-" + std::to_string(getpid()) + ".so");
  std::filesystem::copy_file(PluginPath("good"), path);
  PluginConfig config = Config("good", "good");
  config.path = path;
  const auto first = LoadPlugin(config);
  // In place, as a careless build does it: the loaded image must not change under our feet.
  std::filesystem::copy_file(PluginPath("good_next"), path,
                             std::filesystem::copy_options::overwrite_existing);
  const auto second = LoadPlugin(config);
  std::filesystem::remove(path);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->version, "0.1.0");
  EXPECT_EQ(std::string(first->plugin->version.ptr), "0.1.0");
  EXPECT_EQ(second->version, "0.2.0");
}

TEST(PluginFile, ObjectsToWhatThisMachineCannotLoad) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  const auto objection = [&] {
    return ElfObjection({reinterpret_cast<const char*>(&header), sizeof header});
  };
#if defined(__x86_64__)
  EXPECT_EQ(objection(), "");
  header.e_machine = EM_AARCH64;
  EXPECT_EQ(objection(),
            "is for aarch64, this host is x86_64; install the plugin's build for this machine");
  header.e_machine = EM_X86_64;
#endif
  header.e_type = ET_EXEC;
  EXPECT_NE(objection().find("is no shared object"), std::string::npos);
  header.e_ident[EI_CLASS] = ELFCLASS32;
  EXPECT_NE(objection().find("is not a 64-bit"), std::string::npos);
  EXPECT_NE(ElfObjection("#!/bin/sh\n").find("is no ELF file"), std::string::npos);
}

}  // namespace
}  // namespace detent
