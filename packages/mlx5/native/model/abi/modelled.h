// The functions of libmlx5 that the model implements, by theme: X(result, name, (parameters), (arguments)).
#pragma once

#define MLX5DV_DEVICE_FUNCTIONS(X)                                                                                   \
  X(struct ibv_cq_ex *, mlx5dv_create_cq,                                                                            \
    (struct ibv_context * context, struct ibv_cq_init_attr_ex * cq_attr, struct mlx5dv_cq_init_attr * mlx5_cq_attr), \
    (context, cq_attr, mlx5_cq_attr))                                                                                \
  X(struct ibv_qp *, mlx5dv_create_qp,                                                                               \
    (struct ibv_context * context, struct ibv_qp_init_attr_ex * qp_attr, struct mlx5dv_qp_init_attr * mlx5_qp_attr), \
    (context, qp_attr, mlx5_qp_attr))                                                                                \
  X(int, mlx5dv_get_clock_info, (struct ibv_context * context, struct mlx5dv_clock_info * clock_info),               \
    (context, clock_info))                                                                                           \
  X(int, mlx5dv_init_obj, (struct mlx5dv_obj * obj, uint64_t obj_type), (obj, obj_type))                             \
  X(bool, mlx5dv_is_supported, (struct ibv_device * device), (device))                                               \
  X(struct ibv_context *, mlx5dv_open_device, (struct ibv_device * device, struct mlx5dv_context_attr * attr),       \
    (device, attr))                                                                                                  \
  X(int, mlx5dv_query_device, (struct ibv_context * ctx_in, struct mlx5dv_context * attrs_out), (ctx_in, attrs_out)) \
  X(int, _mlx5dv_query_port,                                                                                         \
    (struct ibv_context * context, uint32_t port_num, struct mlx5dv_port *info, size_t info_len),                    \
    (context, port_num, info, info_len))                                                                             \
  X(struct ibv_mr *, mlx5dv_reg_dmabuf_mr,                                                                           \
    (struct ibv_pd * pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access, int mlx5_access),        \
    (pd, offset, length, iova, fd, access, mlx5_access))                                                             \
  X(int, mlx5dv_modify_qp_lag_port, (struct ibv_qp * qp, uint8_t port_num), (qp, port_num))                          \
  X(int, mlx5dv_query_qp_lag_port, (struct ibv_qp * qp, uint8_t *port_num, uint8_t *active_port_num),                \
    (qp, port_num, active_port_num))                                                                                 \
  X(int, mlx5dv_modify_qp_udp_sport, (struct ibv_qp * qp, uint16_t udp_sport), (qp, udp_sport))

#define MLX5DV_FLOW_FUNCTIONS(X)                                                                                       \
  X(struct ibv_flow *, __mlx5dv_create_flow,                                                                           \
    (struct mlx5dv_flow_matcher * matcher, struct mlx5dv_flow_match_parameters * match_value, size_t num_actions,      \
     struct mlx5dv_flow_action_attr actions_attr[], size_t attr_len),                                                  \
    (matcher, match_value, num_actions, actions_attr, attr_len))                                                       \
  X(struct ibv_flow *, mlx5dv_create_flow,                                                                             \
    (struct mlx5dv_flow_matcher * matcher, struct mlx5dv_flow_match_parameters * match_value, size_t num_actions,      \
     struct mlx5dv_flow_action_attr actions_attr[]),                                                                   \
    (matcher, match_value, num_actions, actions_attr))                                                                 \
  X(struct ibv_flow_action *, mlx5dv_create_flow_action_esp,                                                           \
    (struct ibv_context * ctx, struct ibv_flow_action_esp_attr * esp, struct mlx5dv_flow_action_esp * mlx5_attr),      \
    (ctx, esp, mlx5_attr))                                                                                             \
  X(struct ibv_flow_action *, mlx5dv_create_flow_action_modify_header,                                                 \
    (struct ibv_context * ctx, size_t actions_sz, uint64_t actions[], enum mlx5dv_flow_table_type ft_type),            \
    (ctx, actions_sz, actions, ft_type))                                                                               \
  X(struct ibv_flow_action *, mlx5dv_create_flow_action_packet_reformat,                                               \
    (struct ibv_context * ctx, size_t data_sz, void *data, enum mlx5dv_flow_action_packet_reformat_type reformat_type, \
     enum mlx5dv_flow_table_type ft_type),                                                                             \
    (ctx, data_sz, data, reformat_type, ft_type))                                                                      \
  X(struct mlx5dv_flow_matcher *, mlx5dv_create_flow_matcher,                                                          \
    (struct ibv_context * context, struct mlx5dv_flow_matcher_attr * matcher_attr), (context, matcher_attr))           \
  X(struct mlx5dv_steering_anchor *, mlx5dv_create_steering_anchor,                                                    \
    (struct ibv_context * context, struct mlx5dv_steering_anchor_attr * attr), (context, attr))                        \
  X(int, mlx5dv_destroy_flow_matcher, (struct mlx5dv_flow_matcher * matcher), (matcher))                               \
  X(int, mlx5dv_destroy_steering_anchor, (struct mlx5dv_steering_anchor * sa), (sa))

#define MLX5DV_RULES_FUNCTIONS(X)                                                                                      \
  X(int, mlx5dv_dr_aso_other_domain_link,                                                                              \
    (struct mlx5dv_devx_obj * devx_obj, struct mlx5dv_dr_domain * peer_dmn, struct mlx5dv_dr_domain * dmn,             \
     uint32_t flags, uint8_t return_reg_c),                                                                            \
    (devx_obj, peer_dmn, dmn, flags, return_reg_c))                                                                    \
  X(int, mlx5dv_dr_aso_other_domain_unlink, (struct mlx5dv_devx_obj * devx_obj, struct mlx5dv_dr_domain * dmn),        \
    (devx_obj, dmn))                                                                                                   \
  X(void, mlx5dv_dr_domain_allow_duplicate_rules, (struct mlx5dv_dr_domain * domain, bool allow), (domain, allow))     \
  X(struct mlx5dv_dr_domain *, mlx5dv_dr_domain_create, (struct ibv_context * ctx, enum mlx5dv_dr_domain_type type),   \
    (ctx, type))                                                                                                       \
  X(int, mlx5dv_dr_domain_destroy, (struct mlx5dv_dr_domain * domain), (domain))                                       \
  X(void, mlx5dv_dr_domain_set_reclaim_device_memory, (struct mlx5dv_dr_domain * dmn, bool enable), (dmn, enable))     \
  X(int, mlx5dv_dr_domain_sync, (struct mlx5dv_dr_domain * domain, uint32_t flags), (domain, flags))                   \
  X(struct mlx5dv_dr_matcher *, mlx5dv_dr_matcher_create,                                                              \
    (struct mlx5dv_dr_table * table, uint16_t priority, uint8_t match_criteria_enable,                                 \
     struct mlx5dv_flow_match_parameters *mask),                                                                       \
    (table, priority, match_criteria_enable, mask))                                                                    \
  X(int, mlx5dv_dr_matcher_destroy, (struct mlx5dv_dr_matcher * matcher), (matcher))                                   \
  X(int, mlx5dv_dr_matcher_set_layout, (struct mlx5dv_dr_matcher * matcher, struct mlx5dv_dr_matcher_layout * layout), \
    (matcher, layout))                                                                                                 \
  X(struct mlx5dv_dr_rule *, mlx5dv_dr_rule_create,                                                                    \
    (struct mlx5dv_dr_matcher * matcher, struct mlx5dv_flow_match_parameters * value, size_t num_actions,              \
     struct mlx5dv_dr_action *actions[]),                                                                              \
    (matcher, value, num_actions, actions))                                                                            \
  X(int, mlx5dv_dr_rule_destroy, (struct mlx5dv_dr_rule * rule), (rule))                                               \
  X(struct mlx5dv_dr_table *, mlx5dv_dr_table_create, (struct mlx5dv_dr_domain * domain, uint32_t level),              \
    (domain, level))                                                                                                   \
  X(int, mlx5dv_dr_table_destroy, (struct mlx5dv_dr_table * table), (table))                                           \
  X(int, mlx5dv_dump_dr_domain, (FILE * fout, struct mlx5dv_dr_domain * domain), (fout, domain))                       \
  X(int, mlx5dv_dump_dr_matcher, (FILE * fout, struct mlx5dv_dr_matcher * matcher), (fout, matcher))                   \
  X(int, mlx5dv_dump_dr_rule, (FILE * fout, struct mlx5dv_dr_rule * rule), (fout, rule))                               \
  X(int, mlx5dv_dump_dr_table, (FILE * fout, struct mlx5dv_dr_table * table), (fout, table))

#define MLX5DV_RULE_ACTIONS_FUNCTIONS(X)                                                                               \
  X(struct mlx5dv_dr_action *, mlx5dv_dr_action_create_aso,                                                            \
    (struct mlx5dv_dr_domain * domain, struct mlx5dv_devx_obj * devx_obj, uint32_t offset, uint32_t flags,             \
     uint8_t return_reg_c),                                                                                            \
    (domain, devx_obj, offset, flags, return_reg_c))                                                                   \
  X(struct mlx5dv_dr_action *, mlx5dv_dr_action_create_default_miss, (), ())                                           \
  X(struct mlx5dv_dr_action *, mlx5dv_dr_action_create_dest_array,                                                     \
    (struct mlx5dv_dr_domain * domain, size_t num_dest, struct mlx5dv_dr_action_dest_attr *dests[]),                   \
    (domain, num_dest, dests))                                                                                         \
  X(struct mlx5dv_dr_action *, mlx5dv_dr_action_create_dest_devx_tir, (struct mlx5dv_devx_obj * devx_obj), (devx_obj)) \
  X(struct mlx5dv_dr_action *, mlx5dv_dr_action_create_dest_ib_port,                                                   \
    (struct mlx5dv_dr_domain * domain, uint32_t ib_port), (domain, ib_port))                                           \
  X(struct mlx5dv_dr_action *, mlx5dv_dr_action_create_dest_ibv_qp, (struct ibv_qp * ibqp), (ibqp))                    \
  X(struct mlx5dv_dr_action *, mlx5dv_dr_action_create_dest_root_table,                                                \
    (struct mlx5dv_dr_table * table, uint16_t priority), (table, priority))                                            \
  X(struct mlx5dv_dr_action *, mlx5dv_dr_action_create_dest_table, (struct mlx5dv_dr_table * table), (table))          \
  X(struct mlx5dv_dr_action *, mlx5dv_dr_action_create_dest_vport, (struct mlx5dv_dr_domain * domain, uint32_t vport), \
    (domain, vport))                                                                                                   \
  X(struct mlx5dv_dr_action *, mlx5dv_dr_action_create_drop, (), ())                                                   \
  X(struct mlx5dv_dr_action *, mlx5dv_dr_action_create_flow_counter,                                                   \
    (struct mlx5dv_devx_obj * devx_obj, uint32_t offset), (devx_obj, offset))                                          \
  X(struct mlx5dv_dr_action *, mlx5dv_dr_action_create_flow_meter, (struct mlx5dv_dr_flow_meter_attr * attr), (attr))  \
  X(struct mlx5dv_dr_action *, mlx5dv_dr_action_create_flow_sampler, (struct mlx5dv_dr_flow_sampler_attr * attr),      \
    (attr))                                                                                                            \
  X(struct mlx5dv_dr_action *, mlx5dv_dr_action_create_modify_header,                                                  \
    (struct mlx5dv_dr_domain * domain, uint32_t flags, size_t actions_sz, __be64 actions[]),                           \
    (domain, flags, actions_sz, actions))                                                                              \
  X(struct mlx5dv_dr_action *, mlx5dv_dr_action_create_packet_reformat,                                                \
    (struct mlx5dv_dr_domain * domain, uint32_t flags, enum mlx5dv_flow_action_packet_reformat_type reformat_type,     \
     size_t data_sz, void *data),                                                                                      \
    (domain, flags, reformat_type, data_sz, data))                                                                     \
  X(struct mlx5dv_dr_action *, mlx5dv_dr_action_create_pop_vlan, (), ())                                               \
  X(struct mlx5dv_dr_action *, mlx5dv_dr_action_create_push_vlan, (struct mlx5dv_dr_domain * domain, __be32 vlan_hdr), \
    (domain, vlan_hdr))                                                                                                \
  X(struct mlx5dv_dr_action *, mlx5dv_dr_action_create_tag, (uint32_t tag_value), (tag_value))                         \
  X(int, mlx5dv_dr_action_destroy, (struct mlx5dv_dr_action * action), (action))                                       \
  X(int, mlx5dv_dr_action_modify_aso,                                                                                  \
    (struct mlx5dv_dr_action * action, uint32_t offset, uint32_t flags, uint8_t return_reg_c),                         \
    (action, offset, flags, return_reg_c))                                                                             \
  X(int, mlx5dv_dr_action_modify_flow_meter,                                                                           \
    (struct mlx5dv_dr_action * action, struct mlx5dv_dr_flow_meter_attr * attr, __be64 modify_field_select),           \
    (action, attr, modify_field_select))

#define MLX5DV_DEVX_FUNCTIONS(X)                                                                                       \
  X(struct mlx5dv_devx_uar *, mlx5dv_devx_alloc_uar, (struct ibv_context * context, uint32_t flags), (context, flags)) \
  X(void, mlx5dv_devx_free_uar, (struct mlx5dv_devx_uar * devx_uar), (devx_uar))                                       \
  X(struct mlx5dv_pp *, mlx5dv_pp_alloc,                                                                               \
    (struct ibv_context * context, size_t pp_context_sz, const void *pp_context, uint32_t flags),                      \
    (context, pp_context_sz, pp_context, flags))                                                                       \
  X(void, mlx5dv_pp_free, (struct mlx5dv_pp * pp), (pp))                                                               \
  X(int, mlx5dv_devx_general_cmd,                                                                                      \
    (struct ibv_context * context, const void *in, size_t inlen, void *out, size_t outlen),                            \
    (context, in, inlen, out, outlen))                                                                                 \
  X(struct mlx5dv_devx_obj *, mlx5dv_devx_obj_create,                                                                  \
    (struct ibv_context * context, const void *in, size_t inlen, void *out, size_t outlen),                            \
    (context, in, inlen, out, outlen))                                                                                 \
  X(int, mlx5dv_devx_obj_destroy, (struct mlx5dv_devx_obj * obj), (obj))                                               \
  X(int, mlx5dv_devx_obj_modify,                                                                                       \
    (struct mlx5dv_devx_obj * obj, const void *in, size_t inlen, void *out, size_t outlen),                            \
    (obj, in, inlen, out, outlen))                                                                                     \
  X(int, mlx5dv_devx_obj_query,                                                                                        \
    (struct mlx5dv_devx_obj * obj, const void *in, size_t inlen, void *out, size_t outlen),                            \
    (obj, in, inlen, out, outlen))                                                                                     \
  X(int, mlx5dv_devx_obj_export, (struct mlx5dv_devx_obj * obj, void *data), (obj, data))                              \
  X(struct mlx5dv_devx_obj *, mlx5dv_devx_obj_import, (struct ibv_context * context, void *data), (context, data))     \
  X(void, mlx5dv_devx_obj_unimport, (struct mlx5dv_devx_obj * obj), (obj))                                             \
  X(void, _mlx5dv_get_export_sizes, (struct mlx5dv_export_sizes * sizes, size_t sizes_len), (sizes, sizes_len))        \
  X(struct mlx5dv_devx_umem *, mlx5dv_devx_umem_reg_ex,                                                                \
    (struct ibv_context * ctx, struct mlx5dv_devx_umem_in * umem_in), (ctx, umem_in))                                  \
  X(struct mlx5dv_devx_umem *, mlx5dv_devx_umem_reg,                                                                   \
    (struct ibv_context * ctx, void *addr, size_t size, uint32_t access), (ctx, addr, size, access))                   \
  X(int, mlx5dv_devx_umem_dereg, (struct mlx5dv_devx_umem * umem), (umem))                                             \
  X(struct mlx5dv_devx_event_channel *, mlx5dv_devx_create_event_channel,                                              \
    (struct ibv_context * context, enum mlx5dv_devx_create_event_channel_flags flags), (context, flags))               \
  X(void, mlx5dv_devx_destroy_event_channel, (struct mlx5dv_devx_event_channel * event_channel), (event_channel))      \
  X(int, mlx5dv_devx_subscribe_devx_event,                                                                             \
    (struct mlx5dv_devx_event_channel * event_channel, struct mlx5dv_devx_obj * obj, uint16_t events_sz,               \
     uint16_t events_num[], uint64_t cookie),                                                                          \
    (event_channel, obj, events_sz, events_num, cookie))                                                               \
  X(int, mlx5dv_devx_subscribe_devx_event_fd,                                                                          \
    (struct mlx5dv_devx_event_channel * event_channel, int fd, struct mlx5dv_devx_obj *obj, uint16_t event_num),       \
    (event_channel, fd, obj, event_num))                                                                               \
  X(ssize_t, mlx5dv_devx_get_event,                                                                                    \
    (struct mlx5dv_devx_event_channel * event_channel, struct mlx5dv_devx_async_event_hdr * event_data,                \
     size_t event_resp_len),                                                                                           \
    (event_channel, event_data, event_resp_len))                                                                       \
  X(int, mlx5dv_devx_query_eqn, (struct ibv_context * context, uint32_t vector, uint32_t *eqn),                        \
    (context, vector, eqn))                                                                                            \
  X(struct mlx5dv_devx_cmd_comp *, mlx5dv_devx_create_cmd_comp, (struct ibv_context * context), (context))             \
  X(void, mlx5dv_devx_destroy_cmd_comp, (struct mlx5dv_devx_cmd_comp * cmd_comp), (cmd_comp))                          \
  X(int, mlx5dv_devx_obj_query_async,                                                                                  \
    (struct mlx5dv_devx_obj * obj, const void *in, size_t inlen, size_t outlen, uint64_t wr_id,                        \
     struct mlx5dv_devx_cmd_comp *cmd_comp),                                                                           \
    (obj, in, inlen, outlen, wr_id, cmd_comp))                                                                         \
  X(int, mlx5dv_devx_get_async_cmd_comp,                                                                               \
    (struct mlx5dv_devx_cmd_comp * cmd_comp, struct mlx5dv_devx_async_cmd_hdr * cmd_resp, size_t cmd_resp_len),        \
    (cmd_comp, cmd_resp, cmd_resp_len))
