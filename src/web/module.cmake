# verifier.wasm: rooms of the verifier, the judgement of tessera-verify, and the binding.

# Differences of iterators have 32 bits here, and unsigned numbers are added to them. What is not allowed is to lose bits.
target_compile_options(tessera_options INTERFACE -Wno-sign-conversion)

add_library(room_archive INTERFACE) # its headers alone: web/files.cpp stands for the library's side
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/rooms/archive ${PROJECT_BINARY_DIR}/rooms/cli)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/archive ${PROJECT_BINARY_DIR}/rooms/archive/archive SYMBOLIC)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/cli ${PROJECT_BINARY_DIR}/rooms/cli/cli SYMBOLIC)
target_include_directories(room_archive INTERFACE ${PROJECT_BINARY_DIR}/rooms/archive ${PROJECT_BINARY_DIR}/rooms/cli)
tessera_room(web USES datasets LINKS room_archive nlohmann_json::nlohmann_json)

get_property(verifier_rooms GLOBAL PROPERTY TESSERA_VERIFIER_ROOMS)
add_executable(verifier src/cli/verify_conversation.cpp src/cli/verify_judge.cpp src/cli/json_output.cpp
  src/cli/exit_code.cpp)
foreach(room ${verifier_rooms})
  target_sources(verifier PRIVATE $<TARGET_OBJECTS:${room}>)
endforeach()
target_link_libraries(verifier PRIVATE tessera_options room_web room_archive utf8proc nlohmann_json::nlohmann_json)
target_link_options(verifier PRIVATE --no-entry -sSTANDALONE_WASM -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=2GB
  -sTOTAL_STACK=1MB -sMALLOC=emmalloc -sFILESYSTEM=0 -sEXPORTED_FUNCTIONS=_tessera_allocate,_tessera_release,_tessera_add_file,_tessera_clear,_tessera_verify)
# Sources are compiled for size, without inlining. Linked for speed: functions of a few instructions are inlined.
target_link_options(verifier PRIVATE -sBINARYEN_EXTRA_PASSES=--flexible-inline-max-function-size=8)
set_target_properties(verifier PROPERTIES SUFFIX .wasm)
file(GLOB page_sources CONFIGURE_DEPENDS src/web/page/*)
add_custom_command(OUTPUT verify.html COMMAND ${NODE} ${PROJECT_SOURCE_DIR}/src/web/page/assemble.mjs $<TARGET_FILE:verifier> verify.html
  DEPENDS verifier ${page_sources} VERBATIM)
add_custom_target(page ALL DEPENDS verify.html)

# for tests/web
add_executable(unicode_probe EXCLUDE_FROM_ALL tests/web/unicode_probe.cpp $<TARGET_OBJECTS:room_base_verify>
  $<TARGET_OBJECTS:room_tokenizer_verify>)
target_link_libraries(unicode_probe PRIVATE tessera_options room_tokenizer PkgConfig::UTF8PROC)
target_link_options(unicode_probe PRIVATE -sEXIT_RUNTIME -sWASM_ASYNC_COMPILATION=0)
