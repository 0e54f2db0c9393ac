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
endif()
if(DETENT_SANITIZE)
  # Without no-recover, undefined behaviour is printed and the test passes.
  add_compile_options(-fsanitize=${DETENT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${DETENT_SANITIZE})
endif()

# detent_add_library(NAME SOURCES a.cc ... [LIBS other ...] [PRIVATE_LIBS door ...])
# One static library per directory under core/. PRIVATE_LIBS are third-party libraries behind a door.
function(detent_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;PRIVATE_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${name} PUBLIC ${ARG_LIBS} PRIVATE detent_compiler ${ARG_PRIVATE_LIBS})
endfunction()
