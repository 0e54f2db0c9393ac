# Third-party libraries, each from Debian's packages (see tests/install_dependencies.sh).

find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS filesystem system)
find_package(Poco 1.11 REQUIRED COMPONENTS Foundation Net NetSSL Crypto JSON Util)
find_package(CURL 7.88 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(yaml-cpp 0.7 REQUIRED)
find_package(SQLite3 3.40 REQUIRED)
find_package(date 3.0 REQUIRED)
find_package(simdjson 3.0 REQUIRED)
find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_reader.hpp REQUIRED)  # Headers only, without a package.
if(DETENT_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_package(benchmark REQUIRED)
endif()
