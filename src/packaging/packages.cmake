# Debian packages by cpack -G DEB: jobs/package.sh. One package a component.
install(PROGRAMS jobs/commit.sbatch jobs/prove.sbatch jobs/prove_array.sbatch jobs/prove_local.sh jobs/verify.sh
  DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera/jobs COMPONENT prover)
file(GLOB configurations CONFIGURE_DEPENDS configs/*.toml configs/*.json)
install(FILES ${configurations} DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera/configs COMPONENT prover)
install(DIRECTORY configs/odd-40k DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera/configs COMPONENT prover)
install(DIRECTORY src/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libtessera-dev COMPONENT development)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tessera)
if(NOT CPACK_PACKAGE_CONTACT) # whoever makes packages for others gives an address
  set(CPACK_PACKAGE_CONTACT "tessera <tessera@localhost>")
endif()
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY >=)
set(CPACK_COMPONENTS_ALL verifier runtime development)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/src/packaging/compress_manual.cmake
  ${PROJECT_SOURCE_DIR}/src/packaging/usual_paths.cmake)
set(about "The proof is of an integer transformer\nwith parameters that a verifying key commits to.")

set(CPACK_DEBIAN_VERIFIER_PACKAGE_NAME tessera-verify)
set(CPACK_DEBIAN_VERIFIER_PACKAGE_SECTION science)
set(CPACK_DEBIAN_VERIFIER_DESCRIPTION "verifies that a committed language model generated a text\n${about}")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libtessera-verifier-c0)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "verifier of tessera's proofs, shared library for C\n${about}")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/src/packaging/debian/triggers)

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libtessera-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libtessera-verifier-c0 (= ${PROJECT_VERSION}), libutf8proc-dev, libseccomp-dev, pkg-config")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "verifier of tessera's proofs, for programs in C++ and C\n${about}")

if(TESSERA_PROVER)
  list(APPEND CPACK_COMPONENTS_ALL prover)
  set(CPACK_DEBIAN_PROVER_PACKAGE_NAME tessera)
  set(CPACK_DEBIAN_PROVER_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_PROVER_PACKAGE_DEPENDS openmpi-bin)
  set(CPACK_DEBIAN_PROVER_PACKAGE_RECOMMENDS tessera-verify)
  set(CPACK_DEBIAN_PROVER_DESCRIPTION "proves that a committed language model generated a text, on a cluster\n${about}")
endif()
include(CPack)
