# How the native parts of all packages are compiled.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

# Eight sources are compiled as one: most of the time goes into the standard library's headers, so that a whole build takes
# a third of it. File-local names are therefore unique within a target; tools that read file by file switch it off.
option(VERBS_UNITY "Compile sources in batches" ON)
set(CMAKE_UNITY_BUILD ${VERBS_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)

set(VERBS_SANITIZE "" CACHE STRING "Sanitizers, for example address,undefined or thread")

add_compile_options(-Wall -Wextra -Wshadow $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> -fno-semantic-interposition)
if(VERBS_SANITIZE)
  # The enumerations of the verbs are C enumerations: a program may pass any int, and unknown values are rejected.
  add_compile_options(
    -fsanitize=${VERBS_SANITIZE} -fno-sanitize=enum -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${VERBS_SANITIZE})
endif()

# The programs of tests that follow are compiled more often than they run: without optimization and with line numbers
# only in half of the time. Sanitizers make them slow enough, and fuzzers run long.
macro(verbs_test_settings)
  if(VERBS_SANITIZE)
    add_compile_options(-O1)
  elseif(NOT VERBS_FUZZ)
    add_compile_options(-O0 -g1)
  endif()
endmacro()

find_package(Threads REQUIRED)
set(lib_dir ${CMAKE_BINARY_DIR}/lib)
