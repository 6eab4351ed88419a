# How the native parts of all packages are compiled.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

set(VERBS_SANITIZE "" CACHE STRING "Sanitizers, for example address,undefined or thread")

add_compile_options(-Wall -Wextra -Wshadow $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> -fno-semantic-interposition)
if(VERBS_SANITIZE)
  # The enumerations of the verbs are C enumerations: a program may pass any int, and unknown values are rejected.
  add_compile_options(
    -fsanitize=${VERBS_SANITIZE} -fno-sanitize=enum -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${VERBS_SANITIZE})
endif()

find_package(Threads REQUIRED)
set(lib_dir ${CMAKE_BINARY_DIR}/lib)
