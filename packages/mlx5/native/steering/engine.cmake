# The steering engine: no verbs, no I/O, no clock, no lock.
file(GLOB_RECURSE steering_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/steering/*.cc)
add_library(steering STATIC ${steering_sources})
verbs_precompile(steering)
target_include_directories(steering PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})

if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/bench)
  add_executable(steering_bench ${CMAKE_CURRENT_SOURCE_DIR}/bench/steering_bench.cc)
  target_link_libraries(steering_bench PRIVATE steering)
endif()
