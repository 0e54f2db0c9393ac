# `cmake --install` lays out what a user of the host needs (bin, lib/detent/plugins, share/detent), and what the
# author of a plugin needs: headers, the SDK, DetentPlugin.cmake and the templates. No source of the host is needed.

include(GNUInstallDirs)
install(TARGETS detent RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Not CMAKE_INSTALL_LIBDIR: the host looks for ../lib/detent/plugins beside its binary.
get_property(detent_plugins GLOBAL PROPERTY DETENT_PLUGINS)
foreach(plugin ${detent_plugins})
  get_target_property(directory ${plugin} LIBRARY_OUTPUT_DIRECTORY)
  if(directory STREQUAL "${CMAKE_BINARY_DIR}/lib/detent/plugins")  # Tests make plugins, too, elsewhere.
    install(TARGETS ${plugin} LIBRARY DESTINATION lib/detent/plugins)
  endif()
endforeach()
install(FILES config/detent.yaml DESTINATION ${CMAKE_INSTALL_DATADIR}/detent)
install(DIRECTORY config/kubernetes DESTINATION ${CMAKE_INSTALL_DATADIR}/detent)

install(DIRECTORY include/detent DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY sdk/cpp/detent/sdk DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/detent)
install(FILES sdk/cmake/DetentPlugin.cmake sdk/plugin.map DESTINATION lib/cmake/detent)
install(DIRECTORY sdk/template sdk/template_c DESTINATION ${CMAKE_INSTALL_DATADIR}/detent)
install(FILES sdk/README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/detent RENAME plugins.md)
