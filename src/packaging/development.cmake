# What programs that embed the verifier find: headers, libraries, find_package(tessera), pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)

foreach(library tessera_verifier:tesseraVerifier tessera_verifier_c:tesseraVerifierC)
  string(REPLACE ":" ";" library ${library})
  list(GET library 0 target)
  list(GET library 1 export)
  target_include_directories(${target} PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS ${target} EXPORT ${export} ARCHIVE COMPONENT development
    LIBRARY COMPONENT runtime NAMELINK_COMPONENT development)
  install(EXPORT ${export} NAMESPACE tessera:: DESTINATION ${package_directory} COMPONENT development)
endforeach()
install(FILES include/tessera/verify.h include/tessera/verify.hpp include/tessera/archive.hpp include/tessera/statement.hpp
  include/tessera/sampling.hpp include/tessera/errors.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera COMPONENT development)

configure_package_config_file(src/packaging/tesseraConfig.cmake.in packaging/tesseraConfig.cmake
  INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/packaging/tesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/packaging/tesseraConfig.cmake ${PROJECT_BINARY_DIR}/packaging/tesseraConfigVersion.cmake
  DESTINATION ${package_directory} COMPONENT development)

cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
  OUTPUT_VARIABLE PREFIX_FROM_PKGCONFIG)
foreach(pc tessera-verifier tessera-verifier-c)
  configure_file(src/packaging/${pc}.pc.in packaging/${pc}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/packaging/${pc}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()
