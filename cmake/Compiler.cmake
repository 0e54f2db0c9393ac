# Warnings are errors with GCC 12 and Clang 14; ccache is used where it is installed.

find_program(DETENT_CCACHE ccache)
if(DETENT_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${DETENT_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${DETENT_CCACHE})
endif()

# -g1 keeps line numbers for backtraces and profilers at a third of the link time.
string(REPLACE "-g" "-g1" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")

add_library(detent_compiler INTERFACE)
target_compile_options(detent_compiler INTERFACE -Wall -Wextra -Wpedantic -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(detent_compiler INTERFACE -Wthread-safety)
else()
  # In a unity build no source is the main file, and GCC then warns of members of an anonymous namespace's type.
  target_compile_options(detent_compiler INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
if(DETENT_SANITIZE)
  # Without no-recover, undefined behaviour is printed and the test passes.
  add_compile_options(-fsanitize=${DETENT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${DETENT_SANITIZE})
endif()

# Several sources of a target are compiled as one: what a C++ compiler does most of the time is to read the same headers
# and instantiate the same templates, and a full build takes less than half. So a name in an anonymous namespace is unique
# within its directory. The presets `debug` and `clang` compile each source alone, which shows a missing include.
option(DETENT_UNITY "Compile several sources as one" ON)
function(detent_unite target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${DETENT_UNITY} UNITY_BUILD_BATCH_SIZE 4)
endfunction()

# detent_add_library(NAME SOURCES a.cc ... [LIBS other ...] [PRIVATE_LIBS door ...])
# One static library per directory under core/. PRIVATE_LIBS are third-party libraries behind a door.
function(detent_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;PRIVATE_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${name} PUBLIC ${ARG_LIBS} PRIVATE detent_compiler ${ARG_PRIVATE_LIBS})
  detent_unite(${name})
endfunction()
