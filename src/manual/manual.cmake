# Manual pages and bash completion of a program: a program that is built from its options writes them.
include(GNUInstallDirs)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/rooms/manual)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/manual ${PROJECT_BINARY_DIR}/rooms/manual/manual SYMBOLIC)
add_library(tessera_manual STATIC src/manual/man_page.cpp src/manual/completion.cpp src/manual/tables.cpp
  src/manual/write_pages.cpp)
target_include_directories(tessera_manual PUBLIC ${PROJECT_BINARY_DIR}/rooms/manual)
target_link_libraries(tessera_manual PUBLIC tessera_revision tessera_verifier CLI11::CLI11)
tessera_quick_to_compile(tessera_manual)

# tessera_manual_of(PROGRAM COMPONENT HEADER TYPE LIBRARY), which declares the options
function(tessera_manual_of program component header type options)
  set(generator ${program}-manual)
  set(directory ${PROJECT_BINARY_DIR}/manual/${program})
  add_executable(${generator} src/manual/main.cpp)
  target_link_libraries(${generator} PRIVATE tessera_manual ${options})
  target_compile_definitions(${generator} PRIVATE TESSERA_OPTIONS_HEADER="${header}" TESSERA_OPTIONS=${type})
  add_custom_command(TARGET ${generator} POST_BUILD COMMAND ${CMAKE_COMMAND} -E rm -rf ${directory}
    COMMAND ${generator} ${directory} VERBATIM)
  add_dependencies(${program} ${generator})
  install(DIRECTORY ${directory}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT ${component})
  install(DIRECTORY ${directory}/completions/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    COMPONENT ${component})
endfunction()
