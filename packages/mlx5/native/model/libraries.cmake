# The model itself, and the libmlx5.so.1 for foreign programs over it.
find_package(Threads REQUIRED)
set(lib_dir ${CMAKE_BINARY_DIR}/lib)
# The header by which models plug into the software NIC, of the package beside this one.
set(extension_include ${CMAKE_CURRENT_SOURCE_DIR}/../../soft/native/include)

# One file, as an installed package has no symbolic links: SOVERSION only in the name.
function(verbs_library target name directory map)
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name} SUFFIX ".so.1" NO_SONAME ON LIBRARY_OUTPUT_DIRECTORY ${directory}
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN:$ORIGIN/.." LINK_DEPENDS ${map})
  target_link_options(${target} PRIVATE
    -Wl,-soname,${name}.so.1 -Wl,--version-script=${map} -Wl,-Bsymbolic -Wl,-z,now -Wl,-z,nodelete)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${extension_include})
endfunction()

file(GLOB model_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/model/*.cc)
add_library(mlx5_model OBJECT ${model_sources})
target_include_directories(mlx5_model PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${extension_include})
add_library(mlx5_private SHARED $<TARGET_OBJECTS:mlx5_model>)
verbs_library(mlx5_private libverbs-soft-mlx5 ${lib_dir} ${CMAKE_CURRENT_SOURCE_DIR}/model/private.map)
target_link_libraries(mlx5_private PRIVATE steering Threads::Threads ${CMAKE_DL_LIBS})

add_library(mlx5_dropin SHARED ${CMAKE_CURRENT_SOURCE_DIR}/model/dropin/libmlx5.cc)
verbs_library(mlx5_dropin libmlx5 ${lib_dir}/dropin ${CMAKE_CURRENT_SOURCE_DIR}/model/libmlx5.map)
target_link_libraries(mlx5_dropin PRIVATE mlx5_private ${CMAKE_DL_LIBS})
