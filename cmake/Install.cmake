# `cmake --install` lays out bin, lib/detent/plugins, headers and the SDK.

include(GNUInstallDirs)
if(TARGET detent)
  install(TARGETS detent RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY include/detent DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY sdk/cpp/detent/sdk DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/detent)
install(FILES sdk/cmake/DetentPlugin.cmake sdk/plugin.map DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/detent)
install(DIRECTORY sdk/template DESTINATION ${CMAKE_INSTALL_DATADIR}/detent)
install(FILES config/detent.yaml DESTINATION ${CMAKE_INSTALL_DATADIR}/detent)
