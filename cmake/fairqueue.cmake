# Build rules every folder shares: compiler settings, third-party targets, and the helpers fq_folder and fq_test.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
option(FAIRQUEUE_OPTIMIZE "Optimize; OFF compiles in two thirds of the time, for a demo" ON)
if(FAIRQUEUE_OPTIMIZE)
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG") # -O3 is not measurably faster here and a tenth slower to build
else()
  set(CMAKE_CXX_FLAGS_RELEASE "-O0 -DNDEBUG")
endif()
option(FAIRQUEUE_TESTS "Build tests and benchmarks" ON)
option(FAIRQUEUE_UNITY "Compile the files of a folder as one" ON)
option(FAIRQUEUE_PCH "Precompile headers" ON)

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

# g++ 12 warns falsely: -Wrestrict about "text" + std::string at -O2 (GCC PR 105651), -Wmaybe-uninitialized inside CAF's
# deserializer (it fills what it declares) and inside <regex> under sanitizers, -Warray-bounds and -Wstringop-* (PR 105329)
# inside std::string and std::string_view, where a precompiled header makes it forget that the code is the system's,
# -Wuse-after-free about a reference count that is released twice in one inlined function (PR 104475).
add_compile_options(-Wall -Wextra -Werror -Wno-restrict -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-use-after-free $<$<CONFIG:Release,RelWithDebInfo>:-fno-plt>)
if(FAIRQUEUE_PCH)
  add_compile_options(-fpch-preprocess)
endif()
# Debian's Boost finds its own components; separate compilation keeps Asio's bodies out of every file.
add_compile_definitions(BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_VISIBILITY CAF_ENABLE_TYPE_ID_CHECKS)
# What NATS and GMime define for their users, for all: a precompiled header is refused where definitions differ.
add_compile_definitions(_LARGEFILE64_SOURCE _FILE_OFFSET_BITS=64)
add_compile_options(-pthread)
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

option(FAIRQUEUE_FUZZ "the programs of tests/fuzz with libFuzzer; clang only" OFF)
if(FAIRQUEUE_FUZZ)
  # The warnings above are those of g++, which every other build asks.
  add_compile_options(-w -fsanitize=fuzzer-no-link,address -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address)
endif()

find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(CURL REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(spdlog REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json url)
find_package(CLI11 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(NETTLE REQUIRED IMPORTED_TARGET nettle)
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
pkg_check_modules(PANGOCAIRO REQUIRED IMPORTED_TARGET pangocairo)
pkg_check_modules(TURBOJPEG REQUIRED IMPORTED_TARGET libturbojpeg)
pkg_check_modules(WEBP REQUIRED IMPORTED_TARGET libwebp)

pkg_check_modules(ICU REQUIRED IMPORTED_TARGET icu-i18n)
pkg_check_modules(CMARK REQUIRED IMPORTED_TARGET libcmark)
# Their package files add definitions for every user, and libraries of no use here.
find_library(ICAL_LIBRARY ical REQUIRED)
find_library(DATE_TZ_LIBRARY date-tz REQUIRED)

# Debian ships CAF without a CMake package.
find_library(CAF_CORE_LIBRARY caf_core REQUIRED)
add_library(caf_core INTERFACE)
target_link_libraries(caf_core INTERFACE ${CAF_CORE_LIBRARY} Threads::Threads)
find_library(CAF_IO_LIBRARY caf_io REQUIRED)
add_library(caf_io INTERFACE)
target_link_libraries(caf_io INTERFACE ${CAF_IO_LIBRARY} caf_core)

# One precompiled header a layer, shared by all of its folders. No source may rely on it: FAIRQUEUE_PCH=OFF builds too, slower.
set(FQ_STD_HEADERS <algorithm> <array> <chrono> <functional> <map> <memory> <optional> <span> <string> <unordered_map> <variant> <vector>)
set(FQ_ACTOR_HEADERS ${CMAKE_SOURCE_DIR}/actors/protocol/protocol.hpp <caf/event_based_actor.hpp> <caf/stateful_actor.hpp>
  <caf/typed_event_based_actor.hpp> <caf/typed_response_promise.hpp>)
set(FQ_NET_HEADERS ${CMAKE_SOURCE_DIR}/net/bridge/context.hpp)
set(FQ_ASIO_HEADERS <boost/asio/as_tuple.hpp> <boost/asio/awaitable.hpp> <boost/asio/ip/tcp.hpp> <boost/asio/steady_timer.hpp>
  <boost/asio/use_awaitable.hpp> <boost/json/value.hpp>)
function(fq_layer_header layer)
  if(NOT FAIRQUEUE_PCH)
    return()
  endif()
  file(WRITE ${CMAKE_BINARY_DIR}/layers/${layer}.cpp "// The precompiled header of a layer needs a source.\n")
  add_library(fq_header_${layer} OBJECT ${CMAKE_BINARY_DIR}/layers/${layer}.cpp)
  target_precompile_headers(fq_header_${layer} PRIVATE ${ARGN})
endfunction()
function(fq_use_layer_header target layer)
  if(FAIRQUEUE_PCH)
    target_precompile_headers(${target} REUSE_FROM fq_header_${layer})
  endif()
endfunction()
fq_layer_header(domain ${FQ_STD_HEADERS})
fq_layer_header(actors ${FQ_ACTOR_HEADERS} ${FQ_STD_HEADERS})
fq_layer_header(net ${FQ_NET_HEADERS} ${FQ_ACTOR_HEADERS} ${FQ_STD_HEADERS})
fq_layer_header(load ${FQ_ASIO_HEADERS} ${FQ_STD_HEADERS})
if(FAIRQUEUE_PCH)
  target_link_libraries(fq_header_load PRIVATE Boost::json)
endif()

# fq_folder(folder [USES folder...] [LINK library...] [WITHOUT file...] [ALONE file...] [APART] [COLD] [EXTERNAL]): the library of a
# folder, from all .cpp files in it. COLD: no hot loop, so -O1 is enough and compiles a quarter faster.
# ALONE: files that a unity build does not join with the others, because names in anonymous namespaces collide.
# APART: the same for all files of the folder.
# EXTERNAL: the folder's own CMakeLists.txt makes the target; the entry is for the list of edges only.
function(fq_target_of folder out)
  string(REPLACE "/" "_" name "fq_${folder}")
  set(${out} ${name} PARENT_SCOPE)
endfunction()
function(fq_folder folder)
  cmake_parse_arguments(arg "EXTERNAL;APART;COLD" "" "USES;LINK;WITHOUT;ALONE" ${ARGN})
  if(arg_EXTERNAL)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cpp)
  foreach(file IN LISTS arg_WITHOUT)
    list(REMOVE_ITEM sources ${CMAKE_SOURCE_DIR}/${file})
  endforeach()
  set(libraries ${arg_LINK})
  foreach(used IN LISTS arg_USES)
    fq_target_of(${used} library)
    list(APPEND libraries ${library})
  endforeach()
  fq_target_of(${folder} target)
  if(NOT sources)
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${libraries})
    return()
  endif()
  add_library(${target} STATIC ${sources})
  target_link_libraries(${target} PUBLIC ${libraries})
  string(REGEX MATCH "^[a-z]+" layer ${folder})
  if(layer STREQUAL "app")
    set(layer net)
  elseif(NOT layer MATCHES "^(actors|net|load)$")
    set(layer domain)
  endif()
  fq_use_layer_header(${target} ${layer})
  if(NOT arg_APART)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${FAIRQUEUE_UNITY} UNITY_BUILD_BATCH_SIZE 0)
  endif()
  foreach(name IN LISTS arg_ALONE)
    set_source_files_properties(${CMAKE_SOURCE_DIR}/${folder}/${name}.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
  if(arg_COLD AND FAIRQUEUE_OPTIMIZE)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(FAIRQUEUE_UNITY) # the main file of a unity build is not the one that has the anonymous namespace
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# fq_generated(target file): a source that a custom command of the calling folder makes.
function(fq_generated target file)
  add_custom_target(${target}_generated DEPENDS ${file})
  add_dependencies(${target} ${target}_generated)
  set_source_files_properties(${file} TARGET_DIRECTORY ${target} PROPERTIES GENERATED ON SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${file})
endfunction()

# fq_embed_texts(target function header namespace pattern): the files of the pattern become part of the target, as the function in the header.
function(fq_embed_texts target function header space pattern)
  file(GLOB files CONFIGURE_DEPENDS ${pattern})
  list(JOIN files "|" list)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFUNCTION=${function} -DHEADER=${header} -DSPACE=${space} "-DFILES=${list}"
            -P ${CMAKE_SOURCE_DIR}/cmake/embed_texts.cmake
    DEPENDS ${CMAKE_SOURCE_DIR}/cmake/embed_texts.cmake ${files} VERBATIM)
  fq_generated(${target} ${output})
endfunction()

# fq_test(name [UNITY] [WAITS] [LONG_SUITE suite] [SOURCES file...] [LINK ...] [LABELS ...] [SECONDS seconds]
#         [HEADERS header...]):
# a program on CAF's test framework, one ctest entry.
# UNITY: files are compiled a few at a time; each file's tests stand in a namespace named after the file.
# WAITS: it mostly waits, so it takes one of the five places of scripts/test instead of two.
# SOURCES: otherwise every .cpp file below the folder.
# LONG_SUITE: a suite that only scripts/test --long runs, as an entry of its own and alone.
# SECONDS: what it takes on a busy machine (default 200). CTest ends it after three times as long: then it hangs.
# HEADERS: precompiled for this program instead of the shared ones.
set(FQ_TEST_HEADERS ${CMAKE_SOURCE_DIR}/tests/framework.hpp)
function(fq_test name)
  cmake_parse_arguments(arg "UNITY;WAITS" "LONG_SUITE" "SOURCES;LINK;LABELS;SECONDS;HEADERS" ${ARGN})
  if(NOT arg_SOURCES)
    file(GLOB_RECURSE arg_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  endif()
  if(NOT arg_SECONDS)
    set(arg_SECONDS 200)
  endif()
  math(EXPR timeout "3 * ${arg_SECONDS}")
  add_executable(test_${name} ${arg_SOURCES} $<TARGET_OBJECTS:test_main>)
  target_link_libraries(test_${name} PRIVATE ${arg_LINK} caf_core)
  target_compile_options(test_${name} PRIVATE ${FQ_TEST_OPTIMIZATION})
  if(arg_UNITY AND FAIRQUEUE_UNITY)
    set_target_properties(test_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8
      UNITY_BUILD_CODE_BEFORE_INCLUDE "#undef CAF_SUITE")
    target_compile_options(test_${name} PRIVATE -Wno-subobject-linkage)
  endif()
  if(FAIRQUEUE_PCH)
    if(arg_HEADERS)
      target_precompile_headers(test_${name} PRIVATE ${FQ_TEST_HEADERS} ${arg_HEADERS} ${FQ_STD_HEADERS})
    else()
      target_precompile_headers(test_${name} REUSE_FROM test_main)
    endif()
  endif()
  # CAF's own watchdog ends a case after 30 s, which a sanitizer on a busy machine may take.
  set(run ${PROJECT_SOURCE_DIR}/tests/run_checks $<TARGET_FILE:test_${name}> --max-runtime=${timeout})
  if(arg_LONG_SUITE)
    add_test(NAME ${arg_LONG_SUITE} COMMAND ${run} -s ${arg_LONG_SUITE})
    set_tests_properties(${arg_LONG_SUITE} PROPERTIES TIMEOUT ${timeout} RUN_SERIAL ON LABELS long)
    list(APPEND run -S ${arg_LONG_SUITE})
  endif()
  add_test(NAME ${name} COMMAND ${run})
  set(places 2)
  if(arg_WAITS)
    set(places 1)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout} COST ${arg_SECONDS} PROCESSORS ${places}
    LABELS "${arg_LABELS}")
endfunction()
# The libraries do the work; the checks around them need no optimizer.
set(FQ_TEST_OPTIMIZATION $<$<CONFIG:Release>:-O0>)
