// Receive work queues, and the tables by which queue pairs spread frames over them.
#pragma once

#include <infiniband/verbs.h>

namespace verbs::soft::abi {

ibv_wq* create_wq(ibv_context* context, ibv_wq_init_attr* attr);
int modify_wq(ibv_wq* wq, ibv_wq_attr* attr);
int destroy_wq(ibv_wq* wq);
ibv_rwq_ind_table* create_rwq_ind_table(ibv_context* context, ibv_rwq_ind_table_init_attr* attr);
int destroy_rwq_ind_table(ibv_rwq_ind_table* table);

}  // namespace verbs::soft::abi
