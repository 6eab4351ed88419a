# Fuzz targets of all packages. With VERBS_FUZZ (Clang) they are libFuzzer's programs; otherwise each replays its seed
# archive and its regressions as an ordinary test, so that fixed bugs stay fixed and the targets keep compiling.
option(VERBS_FUZZ "Build the fuzz targets with libFuzzer (Clang only)" OFF)

# fuzz/input.h, fuzz/check.h and the replay belong to the software NIC.
cmake_path(SET fuzz_soft NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/..)

# verbs_fuzz_targets([SOURCES FILE…] [INCLUDES FOLDER…] [LIBRARIES LIBRARY…])
# One program fuzz_NAME for each NAME_target.cc of this folder, and the target `fuzzers` that builds them all.
function(verbs_fuzz_targets)
  cmake_parse_arguments(PARSE_ARGV 0 common "" "" "SOURCES;INCLUDES;LIBRARIES")
  add_custom_target(fuzzers)
  if(NOT VERBS_FUZZ)
    add_library(fuzz_replay OBJECT ${fuzz_soft}/fuzz/replay.cc)
    target_include_directories(fuzz_replay PRIVATE ${fuzz_soft})
  endif()
  file(GLOB targets CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_target.cc)
  foreach(source ${targets})
    get_filename_component(name ${source} NAME_WE)
    string(REPLACE "_target" "" name ${name})
    verbs_unpack_seeds(${name} unpacked)
    add_executable(fuzz_${name} ${source} ${common_SOURCES} ${unpacked})
    target_include_directories(fuzz_${name} PRIVATE ${fuzz_soft} ${common_INCLUDES})
    target_link_libraries(fuzz_${name} PRIVATE ${common_LIBRARIES})
    if(VERBS_FUZZ)
      verbs_link_fuzzer(fuzz_${name})
    else()
      target_link_libraries(fuzz_${name} PRIVATE fuzz_replay)
      set(regressions ${CMAKE_CURRENT_SOURCE_DIR}/regressions/${name})
      if(NOT EXISTS ${regressions})
        set(regressions)
      endif()
      add_test(NAME fuzz_${name} COMMAND fuzz_${name} ${CMAKE_CURRENT_BINARY_DIR}/seeds/${name} ${regressions})
    endif()
    add_dependencies(fuzzers fuzz_${name})
  endforeach()
endfunction()

# With the sanitizers, libFuzzer as Clang links it. Without them no part of it that records what memcmp() compares, which takes
# a fifth of the time of a parser; and no function that the target does not reach, for libFuzzer looks at the counters of
# all functions after each execution.
function(verbs_link_fuzzer program)
  if(VERBS_SANITIZE)
    target_link_options(${program} PRIVATE -fsanitize=fuzzer)
    return()
  endif()
  set(library libclang_rt.fuzzer-${CMAKE_SYSTEM_PROCESSOR}.a)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} --print-file-name=${library}
    OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  target_link_libraries(${program} PRIVATE ${path})
  target_compile_definitions(${program} PRIVATE VERBS_FUZZ_FAST)
  target_link_options(${program} PRIVATE -Wl,--gc-sections -Wl,-z,start-stop-gc)
endfunction()

# Unpacks seeds/NAME_seed_corpus.zip into the build folder, again when it changes; CMake itself reads zip archives.
function(verbs_unpack_seeds name result)
  set(archive ${CMAKE_CURRENT_SOURCE_DIR}/seeds/${name}_seed_corpus.zip)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/seeds/${name})
  add_custom_command(OUTPUT ${folder}.unpacked DEPENDS ${archive}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${folder}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${CMAKE_COMMAND} -E chdir ${folder} ${CMAKE_COMMAND} -E tar xf ${archive}
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}.unpacked
    COMMENT "Unpacking the seeds of fuzz_${name}")
  set(${result} ${folder}.unpacked PARENT_SCOPE)
endfunction()
