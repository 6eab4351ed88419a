# The libraries of vendors' models.

# The header by which models plug into the software NIC.
set(extension_include ${CMAKE_CURRENT_LIST_DIR}/../include)
# Where tests find the software NIC as libibverbs.so.1.
cmake_path(SET soft_build NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../build)
set(VERBS_SOFT_BUILD ${soft_build} CACHE PATH "The build folder of the software NIC that tests run on")
set(soft_path ${VERBS_SOFT_BUILD}/lib/dropin:${VERBS_SOFT_BUILD}/lib)

# One regular file with the name by which it is loaded: an installed package has no symbolic links. It is never unloaded,
# because other libraries keep pointers to its functions.
function(verbs_model_library target file directory map)
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME ${file} SUFFIX "" NO_SONAME ON LIBRARY_OUTPUT_DIRECTORY ${directory}
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN:$ORIGIN/.." LINK_DEPENDS ${map})
  target_link_options(${target} PRIVATE
    -Wl,-soname,${file} -Wl,--version-script=${map} -Wl,-Bsymbolic -Wl,-z,now -Wl,-z,nodelete)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${extension_include})
endfunction()

# The two libraries of a model in model/ and its rooms: NAME_private, the model itself, and NAME_dropin, the library with
# the vendor's name for foreign programs, which forwards to it.
function(verbs_model name private_file dropin_file)
  set(model ${CMAKE_CURRENT_SOURCE_DIR}/model)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${model}/*.cc)
  file(GLOB dropin_sources CONFIGURE_DEPENDS ${model}/dropin/*.cc)
  list(REMOVE_ITEM sources ${dropin_sources})
  add_library(${name}_private SHARED ${sources})
  verbs_precompile(${name}_private)
  verbs_model_library(${name}_private ${private_file} ${lib_dir} ${model}/library/private.map)
  target_link_libraries(${name}_private PRIVATE Threads::Threads ${CMAKE_DL_LIBS} ${ARGN})
  add_library(${name}_dropin SHARED ${dropin_sources})
  verbs_model_library(${name}_dropin ${dropin_file} ${lib_dir}/dropin ${model}/dropin/dropin.map)
  target_link_libraries(${name}_dropin PRIVATE ${name}_private ${CMAKE_DL_LIBS})
endfunction()

# A program that is linked with the vendors' libraries; at run time both are ours.
function(verbs_foreign_program target)
  find_library(VERBS_SYSTEM_LIBRARY NAMES libibverbs.so.1 REQUIRED)
  target_link_libraries(${target} PRIVATE ${ARGN} ${VERBS_SYSTEM_LIBRARY})
  target_link_options(${target} PRIVATE -Wl,--unresolved-symbols=ignore-in-shared-libs)
  set_target_properties(${target} PROPERTIES SKIP_BUILD_RPATH ON)
endfunction()
