# What the module uses of other people's code: utf8proc in source, as UTF8PROC_SOURCE, of the release that Debian's
# tessera-verify has; the headers of nlohmann-json. Paths come from jobs/web.sh.

set(web_options -fwasm-exceptions -flto)
add_compile_options(${web_options} -Oz $<$<COMPILE_LANGUAGE:CXX>:-include${PROJECT_SOURCE_DIR}/src/web/ranges.hpp>)
add_link_options(${web_options})
# where a verification spends its time: hashing, and sums over opened columns and points
set_source_files_properties(src/hash/blake2s.cpp src/hash/blake2s_kernels.cpp src/hash/merkle.cpp src/field/encoding.cpp src/tensor/multilinear.cpp
  src/opening/opened_columns.cpp PROPERTIES COMPILE_OPTIONS "-O3;-finline-functions")

set(UTF8PROC_SOURCE "" CACHE PATH "Folder of utf8proc.c")
set(NLOHMANN_INCLUDE /usr/include/nlohmann CACHE PATH "Folder of json.hpp")
find_program(NODE node REQUIRED)

# With smaller tables: half of the module would be cases and widths of characters, which the verifier never asks for.
add_executable(unicode_tables src/web/unicode_tables.c)
target_include_directories(unicode_tables SYSTEM PRIVATE ${UTF8PROC_SOURCE} src/web)
target_compile_definitions(unicode_tables PRIVATE UTF8PROC_STATIC)
target_link_options(unicode_tables PRIVATE -sEXIT_RUNTIME -sWASM_ASYNC_COMPILATION=0)
set(unicode ${PROJECT_BINARY_DIR}/unicode)
set(unicode_packed ${unicode}/unicode_packed_tables.h)
file(COPY ${UTF8PROC_SOURCE}/utf8proc.c ${UTF8PROC_SOURCE}/utf8proc.h DESTINATION ${unicode})
configure_file(src/web/unicode_data.c ${unicode}/utf8proc_data.c COPYONLY) # utf8proc.c includes it
add_custom_command(OUTPUT ${unicode_packed} COMMAND ${NODE} $<TARGET_FILE:unicode_tables> > ${unicode_packed}
  DEPENDS unicode_tables VERBATIM)
add_library(utf8proc STATIC ${unicode}/utf8proc.c ${unicode_packed})
target_include_directories(utf8proc SYSTEM PRIVATE src/web)
target_include_directories(utf8proc SYSTEM PUBLIC ${unicode})
target_compile_definitions(utf8proc PUBLIC UTF8PROC_STATIC)
target_compile_options(utf8proc INTERFACE -include ${PROJECT_SOURCE_DIR}/src/web/unicode.hpp)
add_library(PkgConfig::UTF8PROC ALIAS utf8proc)

# not all of /usr/include, which is for another machine
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include)
file(CREATE_LINK ${NLOHMANN_INCLUDE} ${PROJECT_BINARY_DIR}/include/nlohmann SYMBOLIC)
add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
target_include_directories(nlohmann_json::nlohmann_json SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/include)
