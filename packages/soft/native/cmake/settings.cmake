# How the native parts of all packages are compiled.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

# Half of the time of a source goes into the standard library's headers: targets of C++ that are compiled alike parse them once,
# the first of them for all. A source still includes what it uses; tools that read file by file switch this off.
option(VERBS_PRECOMPILE "Parse the standard library's headers once" ON)
function(verbs_precompile first)
  if(VERBS_PRECOMPILE)
    target_precompile_headers(${first} PRIVATE <algorithm> <array> <atomic> <cerrno> <cstdint> <cstring> <functional> <map>
      <memory> <mutex> <optional> <span> <string> <string_view> <thread> <utility> <vector>)
    foreach(target ${ARGN})
      target_precompile_headers(${target} REUSE_FROM ${first})
    endforeach()
  endif()
endfunction()

# The main function of doctest's tests, in the target test_main, and its header for the programs that follow.
function(verbs_test_main)
  add_library(test_main OBJECT ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../test/main.cc)
  # As CMake compiles programs.
  set_target_properties(test_main PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(test_main PRIVATE -fPIE)
  verbs_precompile(test_main)
  if(VERBS_PRECOMPILE)
    target_precompile_headers(test_main PRIVATE <doctest/doctest.h>)
  endif()
endfunction()

# A program of tests nearly all of whose sources include a header of the project's that takes as long as the library's own.
function(verbs_test_program_with program header)
  if(VERBS_PRECOMPILE)
    verbs_precompile(${program})
    target_precompile_headers(${program} PRIVATE <doctest/doctest.h> ${header})
  endif()
endfunction()

# Programs of tests that are compiled like test_main.
function(verbs_test_programs)
  if(VERBS_PRECOMPILE)
    foreach(program ${ARGN})
      target_precompile_headers(${program} REUSE_FROM test_main)
    endforeach()
  endif()
endfunction()

set(VERBS_SANITIZE "" CACHE STRING "Sanitizers, for example address,undefined or thread")

add_compile_options(-Wall -Wextra -Wshadow $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> -fno-semantic-interposition)
if(VERBS_SANITIZE)
  # The enumerations of the verbs are C enumerations: a program may pass any int, and unknown values are rejected.
  add_compile_options(
    -fsanitize=${VERBS_SANITIZE} -fno-sanitize=enum -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${VERBS_SANITIZE})
endif()

# The programs of tests that follow are compiled more often than they run: without optimization, without what only a debugger
# needs, and with a call for each assertion, which takes two thirds of the time. Sanitizers make them slow enough and name lines;
# fuzzers run long.
macro(verbs_test_settings)
  if(VERBS_SANITIZE)
    add_compile_options(-O1)
  elseif(NOT VERBS_FUZZ)
    add_compile_options(-O0 -g0)
    add_compile_definitions(DOCTEST_CONFIG_SUPER_FAST_ASSERTS)
  endif()
endmacro()

find_package(Threads REQUIRED)
set(lib_dir ${CMAKE_BINARY_DIR}/lib)
