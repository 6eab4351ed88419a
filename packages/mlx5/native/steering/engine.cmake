# The steering engine: no verbs, no I/O, no clock, no lock.
file(GLOB_RECURSE steering_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/steering/*.cc)
add_library(steering STATIC ${steering_sources})
target_include_directories(steering PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})

if(VERBS_MLX5_TESTS AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/test/steering)  # the published package has none
  file(GLOB_RECURSE steering_tests CONFIGURE_DEPENDS
    ${CMAKE_CURRENT_SOURCE_DIR}/test/steering/*.cc ${CMAKE_CURRENT_SOURCE_DIR}/test/support/steering/*.cc)
  add_executable(steering_test ${CMAKE_CURRENT_SOURCE_DIR}/test/main.cc ${steering_tests})
  target_link_libraries(steering_test PRIVATE steering)
  add_test(NAME steering COMMAND steering_test)
endif()

if(VERBS_MLX5_TESTS AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/fuzz)
  add_subdirectory(fuzz)
endif()

if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/bench)
  add_executable(steering_bench ${CMAKE_CURRENT_SOURCE_DIR}/bench/steering_bench.cc)
  target_link_libraries(steering_bench PRIVATE steering)
endif()
