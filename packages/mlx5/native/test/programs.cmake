# The unit tests of the steering engine and of the model.
verbs_test_main()
file(GLOB_RECURSE steering_tests CONFIGURE_DEPENDS
  ${CMAKE_CURRENT_SOURCE_DIR}/test/steering/*.cc ${CMAKE_CURRENT_SOURCE_DIR}/test/support/steering/*.cc)
add_executable(steering_test $<TARGET_OBJECTS:test_main> ${steering_tests})
target_link_libraries(steering_test PRIVATE steering)
add_test(NAME steering COMMAND steering_test)

file(GLOB_RECURSE model_tests CONFIGURE_DEPENDS
  ${CMAKE_CURRENT_SOURCE_DIR}/test/model/*.cc ${CMAKE_CURRENT_SOURCE_DIR}/test/support/model/*.cc)
# With an operator new that fails.
add_executable(model_test $<TARGET_OBJECTS:test_main> ${model_tests}
  ${CMAKE_CURRENT_SOURCE_DIR}/../../soft/native/test/abi/support/failing_new.cc)
target_include_directories(model_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/../../soft/native)
verbs_foreign_program(model_test mlx5_dropin)
verbs_test_programs(steering_test model_test)
add_test(NAME model COMMAND model_test)
set(devices "mlx5_soft0,kind=mlx5" "mlx5_no0,kind=mlx5,decap=0" "mlx5_no1,kind=mlx5,encap_general_header=0"
  "mlx5_no2,kind=mlx5,reformat_l3_tunnel_to_l2=0" "mlx5_no3,kind=mlx5,reformat_l2_to_l3_tunnel=0"
  "mlx5_few,kind=mlx5,log_max_packet_reformat_context=1" "mlx5_strict,kind=mlx5,cap_net_raw=1"
  "mlx5_bond,kind=mlx5,lag_ports=2,link=process")
string(JOIN "\\;" devices ${devices})
set_tests_properties(model PROPERTIES ENVIRONMENT
  "VERBS_SOFT=${devices};LD_LIBRARY_PATH=${soft_path}:${lib_dir}/dropin:${lib_dir}")

if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/fuzz)
  add_subdirectory(fuzz)
endif()
