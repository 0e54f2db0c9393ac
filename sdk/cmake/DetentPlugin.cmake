# How a plugin is built: one shared object that exports one symbol and needs nothing but libc.
#
#   detent_add_plugin(NAME SOURCES a.cc ... [LIBS lib ...] [INCLUDES dir ...])
#
# makes the module lib/detent/plugins/NAME.so in the build directory. Used by this project for its
# own plugins and, installed, by anybody: include(DetentPlugin) needs no host source.

set(DETENT_PLUGIN_DIR_ ${CMAKE_CURRENT_LIST_DIR})

# A sanitizer brings its own C++ runtime; a second, static copy of it in the plugin would break it.
set(detent_static_runtime_default ON)
if(DETENT_SANITIZE)
  set(detent_static_runtime_default OFF)
endif()
option(DETENT_PLUGIN_STATIC_RUNTIME "Link plugins with -static-libstdc++ -static-libgcc"
       ${detent_static_runtime_default})

# In the source tree the headers are beside this file; installed they are under the prefix.
if(EXISTS ${DETENT_PLUGIN_DIR_}/../cpp/detent/sdk/plugin.h)
  set(DETENT_PLUGIN_INCLUDES_ ${DETENT_PLUGIN_DIR_}/../../include ${DETENT_PLUGIN_DIR_}/../cpp)
  set(DETENT_PLUGIN_MAP_ ${DETENT_PLUGIN_DIR_}/../plugin.map)
else()
  find_path(DETENT_INCLUDE_DIR detent/detent.h HINTS ${DETENT_PLUGIN_DIR_}/../../../include
            ${DETENT_PLUGIN_DIR_}/../../../../include REQUIRED)
  set(DETENT_PLUGIN_INCLUDES_ ${DETENT_INCLUDE_DIR})
  set(DETENT_PLUGIN_MAP_ ${DETENT_PLUGIN_DIR_}/plugin.map)
endif()

function(detent_add_plugin name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;INCLUDES" ${ARGN})
  add_library(${name} MODULE ${ARG_SOURCES})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_include_directories(${name} PRIVATE ${DETENT_PLUGIN_INCLUDES_} ${ARG_INCLUDES})
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wpedantic -fvisibility=hidden
                         $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>
                         $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  target_link_libraries(${name} PRIVATE ${ARG_LIBS})
  target_link_options(${name} PRIVATE
    -Wl,--version-script=${DETENT_PLUGIN_MAP_} -Wl,--exclude-libs,ALL
    -Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete)
  if(DETENT_PLUGIN_STATIC_RUNTIME)
    target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  if(NOT DETENT_SANITIZE)  # a sanitizer's symbols are found in the host at load time
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
    LINK_DEPENDS ${DETENT_PLUGIN_MAP_} POSITION_INDEPENDENT_CODE ON
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/detent/plugins)
  set_property(GLOBAL APPEND PROPERTY DETENT_PLUGINS ${name})  # for tests over all of them
endfunction()
