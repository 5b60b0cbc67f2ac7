# Build rules every folder shares: compiler settings, third-party targets, and the two helpers
# fq_library(name SOURCES ... LINK ...) and fq_test(name SOURCES ... LINK ...).
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
option(FAIRQUEUE_BENCH "Build the benchmarks" ON)
option(FAIRQUEUE_PCH "Precompile the CAF headers" ON)

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

# g++ 12 warns falsely: -Wrestrict about "text" + std::string at -O2 (GCC PR 105651), -Wmaybe-uninitialized inside CAF's
# deserializer (it fills what it declares) and inside <regex> under sanitizers.
add_compile_options(-Wall -Wextra -Werror -Wno-restrict -Wno-maybe-uninitialized $<$<CONFIG:Release,RelWithDebInfo>:-fno-plt>)
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

# Debian ships CAF without a CMake package.
find_library(CAF_CORE_LIBRARY caf_core REQUIRED)
add_library(caf_core INTERFACE)
target_link_libraries(caf_core INTERFACE ${CAF_CORE_LIBRARY} Threads::Threads)
target_compile_definitions(caf_core INTERFACE CAF_ENABLE_TYPE_ID_CHECKS)

function(fq_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC ${arg_LINK} PRIVATE ${arg_PRIVATE})
endfunction()

# A test program: CAF's framework, one ctest entry, failing the whole program on any failed check.
function(fq_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;LABELS;TIMEOUT" ${ARGN})
  add_executable(test_${name} ${arg_SOURCES})
  target_link_libraries(test_${name} PRIVATE ${arg_LINK} caf_core)
  add_test(NAME ${name} COMMAND test_${name})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
endfunction()
