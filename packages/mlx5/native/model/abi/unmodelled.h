// The functions of libmlx5 that the model does not implement, by theme: X(result, name, (parameters), (arguments)).
// They exist, because programs bind all of them at load, and fail with EOPNOTSUPP.
#pragma once

#define MLX5DV_UNMODELLED_FUNCTIONS(X)                                                                                 \
  X(struct ibv_dm *, mlx5dv_alloc_dm,                                                                                  \
    (struct ibv_context * context, struct ibv_alloc_dm_attr * dm_attr, struct mlx5dv_alloc_dm_attr * mlx5_dm_attr),    \
    (context, dm_attr, mlx5_dm_attr))                                                                                  \
  X(struct mlx5dv_var *, mlx5dv_alloc_var, (struct ibv_context * context, uint32_t flags), (context, flags))           \
  X(struct mlx5dv_mkey *, mlx5dv_create_mkey, (struct mlx5dv_mkey_init_attr * mkey_init_attr), (mkey_init_attr))       \
  X(struct ibv_wq *, mlx5dv_create_wq,                                                                                 \
    (struct ibv_context * context, struct ibv_wq_init_attr * wq_init_attr, struct mlx5dv_wq_init_attr * mlx5_wq_attr), \
    (context, wq_init_attr, mlx5_wq_attr))                                                                             \
  X(int, mlx5dv_crypto_login, (struct ibv_context * context, struct mlx5dv_crypto_login_attr * login_attr),            \
    (context, login_attr))                                                                                             \
  X(struct mlx5dv_crypto_login_obj *, mlx5dv_crypto_login_create,                                                      \
    (struct ibv_context * context, struct mlx5dv_crypto_login_attr_ex * login_attr), (context, login_attr))            \
  X(int, mlx5dv_crypto_login_destroy, (struct mlx5dv_crypto_login_obj * crypto_login), (crypto_login))                 \
  X(int, mlx5dv_crypto_login_query,                                                                                    \
    (struct mlx5dv_crypto_login_obj * crypto_login, struct mlx5dv_crypto_login_query_attr * query_attr),               \
    (crypto_login, query_attr))                                                                                        \
  X(int, mlx5dv_crypto_login_query_state, (struct ibv_context * context, enum mlx5dv_crypto_login_state * state),      \
    (context, state))                                                                                                  \
  X(int, mlx5dv_crypto_logout, (struct ibv_context * context), (context))                                              \
  X(int, mlx5dv_dci_stream_id_reset, (struct ibv_qp * qp, uint16_t stream_id), (qp, stream_id))                        \
  X(struct mlx5dv_dek *, mlx5dv_dek_create, (struct ibv_context * context, struct mlx5dv_dek_init_attr * init_attr),   \
    (context, init_attr))                                                                                              \
  X(int, mlx5dv_dek_destroy, (struct mlx5dv_dek * dek), (dek))                                                         \
  X(int, mlx5dv_dek_query, (struct mlx5dv_dek * dek, struct mlx5dv_dek_attr * attr), (dek, attr))                      \
  X(int, mlx5dv_destroy_mkey, (struct mlx5dv_mkey * mkey), (mkey))                                                     \
  X(struct mlx5dv_devx_msi_vector *, mlx5dv_devx_alloc_msi_vector, (struct ibv_context * ibctx), (ibctx))              \
  X(int, mlx5dv_devx_cq_modify, (struct ibv_cq * cq, const void *in, size_t inlen, void *out, size_t outlen),          \
    (cq, in, inlen, out, outlen))                                                                                      \
  X(int, mlx5dv_devx_cq_query, (struct ibv_cq * cq, const void *in, size_t inlen, void *out, size_t outlen),           \
    (cq, in, inlen, out, outlen))                                                                                      \
  X(struct mlx5dv_devx_eq *, mlx5dv_devx_create_eq,                                                                    \
    (struct ibv_context * ibctx, const void *in, size_t inlen, void *out, size_t outlen),                              \
    (ibctx, in, inlen, out, outlen))                                                                                   \
  X(int, mlx5dv_devx_destroy_eq, (struct mlx5dv_devx_eq * eq), (eq))                                                   \
  X(int, mlx5dv_devx_free_msi_vector, (struct mlx5dv_devx_msi_vector * msi), (msi))                                    \
  X(int, mlx5dv_devx_ind_tbl_modify,                                                                                   \
    (struct ibv_rwq_ind_table * ind_tbl, const void *in, size_t inlen, void *out, size_t outlen),                      \
    (ind_tbl, in, inlen, out, outlen))                                                                                 \
  X(int, mlx5dv_devx_ind_tbl_query,                                                                                    \
    (struct ibv_rwq_ind_table * ind_tbl, const void *in, size_t inlen, void *out, size_t outlen),                      \
    (ind_tbl, in, inlen, out, outlen))                                                                                 \
  X(int, mlx5dv_devx_qp_modify, (struct ibv_qp * qp, const void *in, size_t inlen, void *out, size_t outlen),          \
    (qp, in, inlen, out, outlen))                                                                                      \
  X(int, mlx5dv_devx_qp_query, (struct ibv_qp * qp, const void *in, size_t inlen, void *out, size_t outlen),           \
    (qp, in, inlen, out, outlen))                                                                                      \
  X(int, mlx5dv_devx_srq_modify, (struct ibv_srq * srq, const void *in, size_t inlen, void *out, size_t outlen),       \
    (srq, in, inlen, out, outlen))                                                                                     \
  X(int, mlx5dv_devx_srq_query, (struct ibv_srq * srq, const void *in, size_t inlen, void *out, size_t outlen),        \
    (srq, in, inlen, out, outlen))                                                                                     \
  X(int, mlx5dv_devx_wq_modify, (struct ibv_wq * wq, const void *in, size_t inlen, void *out, size_t outlen),          \
    (wq, in, inlen, out, outlen))                                                                                      \
  X(int, mlx5dv_devx_wq_query, (struct ibv_wq * wq, const void *in, size_t inlen, void *out, size_t outlen),           \
    (wq, in, inlen, out, outlen))                                                                                      \
  X(void *, mlx5dv_dm_map_op_addr, (struct ibv_dm * dm, uint8_t op), (dm, op))                                         \
  X(void, mlx5dv_free_var, (struct mlx5dv_var * dv_var), (dv_var))                                                     \
  X(struct ibv_device **, mlx5dv_get_vfio_device_list, (struct mlx5dv_vfio_context_attr * attr), (attr))               \
  X(int, mlx5dv_map_ah_to_qp, (struct ibv_ah * ah, uint32_t qp_num), (ah, qp_num))                                     \
  X(int, _mlx5dv_mkey_check, (struct mlx5dv_mkey * mkey, struct mlx5dv_mkey_err * err_info, size_t err_info_size),     \
    (mkey, err_info, err_info_size))                                                                                   \
  X(int, mlx5dv_modify_qp_sched_elem,                                                                                  \
    (struct ibv_qp * qp, const struct mlx5dv_sched_leaf *requestor, const struct mlx5dv_sched_leaf *responder),        \
    (qp, requestor, responder))                                                                                        \
  X(int, mlx5dv_qp_cancel_posted_send_wrs, (struct mlx5dv_qp_ex * mqp, uint64_t wr_id), (mqp, wr_id))                  \
  X(struct mlx5dv_qp_ex *, mlx5dv_qp_ex_from_ibv_qp_ex, (struct ibv_qp_ex * qp), (qp))                                 \
  X(int, mlx5dv_reserved_qpn_alloc, (struct ibv_context * ctx, uint32_t *qpn), (ctx, qpn))                             \
  X(int, mlx5dv_reserved_qpn_dealloc, (struct ibv_context * ctx, uint32_t qpn), (ctx, qpn))                            \
  X(struct mlx5dv_sched_leaf *, mlx5dv_sched_leaf_create,                                                              \
    (struct ibv_context * context, const struct mlx5dv_sched_attr *sched_attr), (context, sched_attr))                 \
  X(int, mlx5dv_sched_leaf_destroy, (struct mlx5dv_sched_leaf * leaf), (leaf))                                         \
  X(int, mlx5dv_sched_leaf_modify, (struct mlx5dv_sched_leaf * leaf, const struct mlx5dv_sched_attr *sched_attr),      \
    (leaf, sched_attr))                                                                                                \
  X(struct mlx5dv_sched_node *, mlx5dv_sched_node_create,                                                              \
    (struct ibv_context * context, const struct mlx5dv_sched_attr *sched_attr), (context, sched_attr))                 \
  X(int, mlx5dv_sched_node_destroy, (struct mlx5dv_sched_node * node), (node))                                         \
  X(int, mlx5dv_sched_node_modify, (struct mlx5dv_sched_node * node, const struct mlx5dv_sched_attr *sched_attr),      \
    (node, sched_attr))                                                                                                \
  X(int, mlx5dv_set_context_attr, (struct ibv_context * context, enum mlx5dv_set_ctx_attr_type type, void *attr),      \
    (context, type, attr))                                                                                             \
  X(int, mlx5dv_vfio_process_events, (struct ibv_context * context), (context))                                        \
  X(int, mlx5dv_get_data_direct_sysfs_path, (struct ibv_context * context, char *buf, size_t buf_len),                 \
    (context, buf, buf_len))                                                                                           \
  X(int, mlx5dv_devx_umem_export, (struct mlx5dv_devx_umem * umem, void *data), (umem, data))                          \
  X(struct mlx5dv_devx_umem *, mlx5dv_devx_umem_import, (struct ibv_context * context, void *data), (context, data))   \
  X(void, mlx5dv_devx_umem_unimport, (struct mlx5dv_devx_umem * umem), (umem))                                         \
  X(int, mlx5dv_var_export, (struct mlx5dv_var * dv_var, void *data), (dv_var, data))                                  \
  X(struct mlx5dv_var *, mlx5dv_var_import, (struct ibv_context * context, void *data), (context, data))               \
  X(void, mlx5dv_var_unimport, (struct mlx5dv_var * dv_var), (dv_var))

// These return a descriptor: -1 and errno.
#define MLX5DV_UNMODELLED_DESCRIPTOR_FUNCTIONS(X)                          \
  X(int, mlx5dv_vfio_get_events_fd, (struct ibv_context * ibctx), (ibctx)) \
  X(int, mlx5dv_devx_uar_export_dmabuf_fd, (struct mlx5dv_devx_uar * devx_uar), (devx_uar))
