# The Python package's compiled part; src/python/pyproject.toml asks for it.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
find_package(nanobind CONFIG REQUIRED)

nanobind_add_module(_tessera NOMINSIZE PROTECT_STACK src/python/module.cpp src/python/arrays.cpp
  src/cli/verify_chat.cpp) # messages, as tessera-verify takes them
target_link_libraries(_tessera PRIVATE tessera_verifier room_cli nlohmann_json::nlohmann_json)
target_include_directories(_tessera SYSTEM PRIVATE ${NB_DIR}/include) # our warnings are for our code
set_target_properties(_tessera PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
nanobind_add_stub(_tessera_stub MODULE _tessera OUTPUT _tessera.pyi PYTHON_PATH $<TARGET_FILE_DIR:_tessera> DEPENDS _tessera)
add_custom_target(python_module DEPENDS _tessera _tessera_stub)
install(TARGETS _tessera LIBRARY DESTINATION tessera COMPONENT python)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/_tessera.pyi DESTINATION tessera COMPONENT python)
