// The functions of libmlx5 that the binding calls, with the release of rdma-core that each came with. All of them are
// looked up by name, and each may be missing: then its call is EOPNOTSUPP, with that release in the message.
#pragma once

// X(name, release): the functions that the header of rdma-core 44 declares.
#define MLX5DV_FUNCTIONS(X)                         \
  X(mlx5dv_query_device, 13)                        \
  X(mlx5dv_create_cq, 14)                           \
  X(mlx5dv_init_obj, 15)                            \
  X(mlx5dv_create_qp, 16)                           \
  X(mlx5dv_create_wq, 16)                           \
  X(mlx5dv_get_clock_info, 17)                      \
  X(mlx5dv_create_flow, 20)                         \
  X(mlx5dv_create_flow_matcher, 20)                 \
  X(mlx5dv_destroy_flow_matcher, 20)                \
  X(mlx5dv_create_flow_action_modify_header, 21)    \
  X(mlx5dv_create_flow_action_packet_reformat, 21)  \
  X(mlx5dv_devx_alloc_uar, 21)                      \
  X(mlx5dv_devx_free_uar, 21)                       \
  X(mlx5dv_devx_general_cmd, 21)                    \
  X(mlx5dv_devx_obj_create, 21)                     \
  X(mlx5dv_devx_obj_destroy, 21)                    \
  X(mlx5dv_devx_obj_modify, 21)                     \
  X(mlx5dv_devx_obj_query, 21)                      \
  X(mlx5dv_devx_query_eqn, 21)                      \
  X(mlx5dv_devx_umem_dereg, 21)                     \
  X(mlx5dv_devx_umem_reg, 21)                       \
  X(mlx5dv_open_device, 21)                         \
  X(mlx5dv_devx_cq_modify, 22)                      \
  X(mlx5dv_devx_cq_query, 22)                       \
  X(mlx5dv_devx_ind_tbl_modify, 22)                 \
  X(mlx5dv_devx_ind_tbl_query, 22)                  \
  X(mlx5dv_devx_qp_modify, 22)                      \
  X(mlx5dv_devx_qp_query, 22)                       \
  X(mlx5dv_devx_srq_modify, 22)                     \
  X(mlx5dv_devx_srq_query, 22)                      \
  X(mlx5dv_devx_wq_modify, 22)                      \
  X(mlx5dv_devx_wq_query, 22)                       \
  X(mlx5dv_is_supported, 22)                        \
  X(mlx5dv_devx_create_cmd_comp, 23)                \
  X(mlx5dv_devx_destroy_cmd_comp, 23)               \
  X(mlx5dv_devx_get_async_cmd_comp, 23)             \
  X(mlx5dv_devx_obj_query_async, 23)                \
  X(mlx5dv_alloc_dm, 24)                            \
  X(mlx5dv_create_mkey, 24)                         \
  X(mlx5dv_destroy_mkey, 24)                        \
  X(mlx5dv_dr_action_create_dest_ibv_qp, 24)        \
  X(mlx5dv_dr_action_create_dest_table, 24)         \
  X(mlx5dv_dr_action_create_dest_vport, 24)         \
  X(mlx5dv_dr_action_create_drop, 24)               \
  X(mlx5dv_dr_action_create_flow_counter, 24)       \
  X(mlx5dv_dr_action_create_modify_header, 24)      \
  X(mlx5dv_dr_action_create_packet_reformat, 24)    \
  X(mlx5dv_dr_action_create_tag, 24)                \
  X(mlx5dv_dr_action_destroy, 24)                   \
  X(mlx5dv_dr_domain_create, 24)                    \
  X(mlx5dv_dr_domain_destroy, 24)                   \
  X(mlx5dv_dr_domain_sync, 24)                      \
  X(mlx5dv_dr_matcher_create, 24)                   \
  X(mlx5dv_dr_matcher_destroy, 24)                  \
  X(mlx5dv_dr_rule_create, 24)                      \
  X(mlx5dv_dr_rule_destroy, 24)                     \
  X(mlx5dv_dr_table_create, 24)                     \
  X(mlx5dv_dr_table_destroy, 24)                    \
  X(mlx5dv_devx_create_event_channel, 25)           \
  X(mlx5dv_devx_destroy_event_channel, 25)          \
  X(mlx5dv_devx_get_event, 25)                      \
  X(mlx5dv_devx_subscribe_devx_event, 25)           \
  X(mlx5dv_devx_subscribe_devx_event_fd, 25)        \
  X(mlx5dv_alloc_var, 28)                           \
  X(mlx5dv_dr_action_create_flow_meter, 28)         \
  X(mlx5dv_dr_action_modify_flow_meter, 28)         \
  X(mlx5dv_dump_dr_domain, 28)                      \
  X(mlx5dv_dump_dr_matcher, 28)                     \
  X(mlx5dv_dump_dr_rule, 28)                        \
  X(mlx5dv_dump_dr_table, 28)                       \
  X(mlx5dv_free_var, 28)                            \
  X(mlx5dv_pp_alloc, 29)                            \
  X(mlx5dv_pp_free, 29)                             \
  X(mlx5dv_dr_action_create_default_miss, 30)       \
  X(mlx5dv_dr_domain_set_reclaim_device_memory, 30) \
  X(mlx5dv_modify_qp_lag_port, 30)                  \
  X(mlx5dv_query_qp_lag_port, 30)                   \
  X(mlx5dv_dr_action_create_dest_devx_tir, 31)      \
  X(mlx5dv_dr_action_create_dest_array, 32)         \
  X(mlx5dv_dr_action_create_flow_sampler, 32)       \
  X(mlx5dv_dr_action_create_aso, 33)                \
  X(mlx5dv_dr_action_create_pop_vlan, 33)           \
  X(mlx5dv_dr_action_create_push_vlan, 33)          \
  X(mlx5dv_dr_action_modify_aso, 33)                \
  X(mlx5dv_modify_qp_sched_elem, 33)                \
  X(mlx5dv_modify_qp_udp_sport, 33)                 \
  X(mlx5dv_sched_leaf_create, 33)                   \
  X(mlx5dv_sched_leaf_destroy, 33)                  \
  X(mlx5dv_sched_leaf_modify, 33)                   \
  X(mlx5dv_sched_node_create, 33)                   \
  X(mlx5dv_sched_node_destroy, 33)                  \
  X(mlx5dv_sched_node_modify, 33)                   \
  X(mlx5dv_reserved_qpn_alloc, 34)                  \
  X(mlx5dv_reserved_qpn_dealloc, 34)                \
  X(_mlx5dv_query_port, 35)                         \
  X(mlx5dv_devx_umem_reg_ex, 35)                    \
  X(mlx5dv_dm_map_op_addr, 35)                      \
  X(_mlx5dv_mkey_check, 36)                         \
  X(mlx5dv_dr_domain_allow_duplicate_rules, 36)     \
  X(mlx5dv_map_ah_to_qp, 36)                        \
  X(mlx5dv_crypto_login, 37)                        \
  X(mlx5dv_crypto_login_query_state, 37)            \
  X(mlx5dv_crypto_logout, 37)                       \
  X(mlx5dv_dci_stream_id_reset, 37)                 \
  X(mlx5dv_dek_create, 37)                          \
  X(mlx5dv_dek_destroy, 37)                         \
  X(mlx5dv_dek_query, 37)                           \
  X(mlx5dv_dr_action_create_dest_ib_port, 37)       \
  X(mlx5dv_dr_matcher_set_layout, 37)               \
  X(mlx5dv_get_vfio_device_list, 37)                \
  X(mlx5dv_vfio_get_events_fd, 37)                  \
  X(mlx5dv_vfio_process_events, 37)                 \
  X(mlx5dv_dr_aso_other_domain_link, 38)            \
  X(mlx5dv_dr_aso_other_domain_unlink, 38)          \
  X(mlx5dv_devx_alloc_msi_vector, 40)               \
  X(mlx5dv_devx_create_eq, 40)                      \
  X(mlx5dv_devx_destroy_eq, 40)                     \
  X(mlx5dv_devx_free_msi_vector, 40)                \
  X(mlx5dv_create_steering_anchor, 42)              \
  X(mlx5dv_crypto_login_create, 42)                 \
  X(mlx5dv_crypto_login_destroy, 42)                \
  X(mlx5dv_crypto_login_query, 42)                  \
  X(mlx5dv_destroy_steering_anchor, 42)             \
  X(mlx5dv_dr_action_create_dest_root_table, 42)

// Y(name, release, result, parameters): functions whose header may not be the one at hand.
#define MLX5DV_NEWER_FUNCTIONS(Y)                                                                             \
  Y(__mlx5dv_create_flow, "63", ibv_flow*,                                                                    \
    (mlx5dv_flow_matcher*, mlx5dv_flow_match_parameters*, std::size_t, newer::FlowActionAttr*, std::size_t))  \
  Y(mlx5dv_reg_dmabuf_mr, "54", ibv_mr*, (ibv_pd*, std::uint64_t, std::size_t, std::uint64_t, int, int, int)) \
  Y(mlx5dv_get_data_direct_sysfs_path, "54", int, (ibv_context*, char*, std::size_t))                         \
  Y(mlx5dv_devx_uar_export_dmabuf_fd, "62", int, (mlx5dv_devx_uar*))                                          \
  Y(_mlx5dv_get_export_sizes, "63", void, (newer::ExportSizes*, std::size_t))                                 \
  Y(mlx5dv_devx_obj_export, "63", int, (mlx5dv_devx_obj*, void*))                                             \
  Y(mlx5dv_devx_obj_import, "63", mlx5dv_devx_obj*, (ibv_context*, void*))                                    \
  Y(mlx5dv_devx_obj_unimport, "63", void, (mlx5dv_devx_obj*))                                                 \
  Y(mlx5dv_devx_umem_export, "63", int, (mlx5dv_devx_umem*, void*))                                           \
  Y(mlx5dv_devx_umem_import, "63", mlx5dv_devx_umem*, (ibv_context*, void*))                                  \
  Y(mlx5dv_devx_umem_unimport, "63", void, (mlx5dv_devx_umem*))                                               \
  Y(mlx5dv_var_export, "63", int, (mlx5dv_var*, void*))                                                       \
  Y(mlx5dv_var_import, "63", mlx5dv_var*, (ibv_context*, void*))                                              \
  Y(mlx5dv_var_unimport, "63", void, (mlx5dv_var*))
