# Build rules every folder shares: compiler settings, third-party targets, and the two helpers
# fq_library(name SOURCES ... LINK ...) and fq_test(name SOURCES ... LINK ...).
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG") # -O3 is not measurably faster here and a tenth slower to build
option(FAIRQUEUE_BENCH "Build the benchmarks" ON)
option(FAIRQUEUE_PCH "Precompile headers" ON)

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

# g++ 12 warns falsely: -Wrestrict about "text" + std::string at -O2 (GCC PR 105651), -Wmaybe-uninitialized inside CAF's
# deserializer (it fills what it declares) and inside <regex> under sanitizers, -Warray-bounds and -Wstringop-* (PR 105329)
# inside std::string and std::string_view, where a precompiled header makes it forget that the code is the system's.
add_compile_options(-Wall -Wextra -Werror -Wno-restrict -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread $<$<CONFIG:Release,RelWithDebInfo>:-fno-plt>)
if(FAIRQUEUE_PCH)
  add_compile_options(-fpch-preprocess)
endif()
# Debian's Boost finds its own components; separate compilation keeps Asio's bodies out of every file.
add_compile_definitions(BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_VISIBILITY)
include_directories(${CMAKE_SOURCE_DIR})

set(FAIRQUEUE_SANITIZE "" CACHE STRING "address (with undefined) or thread")
if(FAIRQUEUE_SANITIZE STREQUAL "address")
  # CAF's init_fun_factory forms a null reference for argument-less spawns: not ours to mend.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=null -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(FAIRQUEUE_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
endif()

find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(CURL REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(spdlog REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json url)
find_package(PkgConfig REQUIRED)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(CJOSE REQUIRED IMPORTED_TARGET cjose)
pkg_check_modules(PQ REQUIRED IMPORTED_TARGET libpq)
pkg_check_modules(HIREDIS REQUIRED IMPORTED_TARGET hiredis)
pkg_check_modules(GMIME REQUIRED IMPORTED_TARGET gmime-3.0)
pkg_check_modules(NATS REQUIRED IMPORTED_TARGET libnats)
pkg_check_modules(SYSTEMD REQUIRED IMPORTED_TARGET libsystemd)
pkg_check_modules(CTEMPLATE REQUIRED IMPORTED_TARGET libctemplate)
pkg_check_modules(PROMETHEUS REQUIRED IMPORTED_TARGET prometheus-cpp-core) # not its HTTP server
pkg_check_modules(QRCODE REQUIRED IMPORTED_TARGET qrcodegencpp)

# Debian ships CAF without a CMake package.
find_library(CAF_CORE_LIBRARY caf_core REQUIRED)
add_library(caf_core INTERFACE)
target_link_libraries(caf_core INTERFACE ${CAF_CORE_LIBRARY} Threads::Threads)
target_compile_definitions(caf_core INTERFACE CAF_ENABLE_TYPE_ID_CHECKS)
find_library(CAF_IO_LIBRARY caf_io REQUIRED)
find_library(CAF_OPENSSL_LIBRARY caf_openssl REQUIRED)
add_library(caf_io INTERFACE)
target_link_libraries(caf_io INTERFACE ${CAF_OPENSSL_LIBRARY} ${CAF_IO_LIBRARY} caf_core)

function(fq_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC ${arg_LINK} PRIVATE ${arg_PRIVATE})
endfunction()

# Headers compiled once for all files of a target. Nobody may lean on them: with FAIRQUEUE_PCH=OFF everything builds, slower.
function(fq_precompile target)
  if(FAIRQUEUE_PCH)
    if("REUSE_FROM" IN_LIST ARGN)
      target_precompile_headers(${target} ${ARGN})
    else()
      target_precompile_headers(${target} PRIVATE ${ARGN})
    endif()
  endif()
endfunction()
set(FQ_STD_HEADERS <algorithm> <array> <chrono> <functional> <map> <memory> <optional> <span> <string> <unordered_map> <variant> <vector>)
set(FQ_ACTOR_HEADERS ${CMAKE_SOURCE_DIR}/actors/protocol.hpp <caf/event_based_actor.hpp> <caf/stateful_actor.hpp>
  <caf/typed_event_based_actor.hpp> <caf/typed_response_promise.hpp>)
set(FQ_NET_HEADERS ${CMAKE_SOURCE_DIR}/net/context.hpp)
set(FQ_ASIO_HEADERS <boost/asio/as_tuple.hpp> <boost/asio/awaitable.hpp> <boost/asio/ip/tcp.hpp> <boost/asio/steady_timer.hpp>
  <boost/asio/use_awaitable.hpp> <boost/json/value.hpp>)
set(FQ_TEST_HEADERS ${CMAKE_SOURCE_DIR}/tests/framework.hpp)

# A test program: CAF's framework, one ctest entry, failing the whole program on any failed check. PRECOMPILE: as fq_precompile,
# instead of the headers that all test programs share.
function(fq_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;LABELS;TIMEOUT;PRECOMPILE" ${ARGN})
  if(NOT arg_PRECOMPILE)
    set(arg_PRECOMPILE REUSE_FROM test_main)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(test_${name} ${arg_SOURCES} $<TARGET_OBJECTS:test_main>)
  target_link_libraries(test_${name} PRIVATE ${arg_LINK} caf_core)
  target_compile_options(test_${name} PRIVATE $<$<CONFIG:Release>:-O1>) # the libraries below are the ones that work
  fq_precompile(test_${name} ${arg_PRECOMPILE})
  # CAF's own watchdog ends a case after 30 s, which a sanitizer on a busy machine may take.
  add_test(NAME ${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/run_checks $<TARGET_FILE:test_${name}> --max-runtime=${arg_TIMEOUT})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
endfunction()
