# What the module uses of other people's code: utf8proc in source, as UTF8PROC_SOURCE, of the release that Debian's
# tessera-verify has; the headers of nlohmann-json. Paths come from jobs/web.sh.

set(UTF8PROC_SOURCE "" CACHE PATH "Folder of utf8proc.c")
set(NLOHMANN_INCLUDE /usr/include/nlohmann CACHE PATH "Folder of json.hpp")
add_library(utf8proc STATIC ${UTF8PROC_SOURCE}/utf8proc.c)
target_include_directories(utf8proc SYSTEM PUBLIC ${UTF8PROC_SOURCE})
target_compile_definitions(utf8proc PUBLIC UTF8PROC_STATIC)
add_library(PkgConfig::UTF8PROC ALIAS utf8proc)

# not all of /usr/include, which is for another machine
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include)
file(CREATE_LINK ${NLOHMANN_INCLUDE} ${PROJECT_BINARY_DIR}/include/nlohmann SYMBOLIC)
add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
target_include_directories(nlohmann_json::nlohmann_json SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/include)

add_library(OpenSSL::Crypto INTERFACE IMPORTED) # web/blake2s.cpp instead
set(web_options -fwasm-exceptions -flto -Oz) # a proof takes a fraction of a second either way
add_compile_options(${web_options} $<$<COMPILE_LANGUAGE:CXX>:-include${PROJECT_SOURCE_DIR}/src/web/ranges.hpp>)
add_link_options(${web_options})
