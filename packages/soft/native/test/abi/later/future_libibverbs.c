// A libibverbs of a release that does not exist yet, for the linker alone: it gives names their version nodes.
void verbs_register_driver_70(const void* ops) { (void)ops; }
int ibv_cmd_alloc_pd(void) { return 0; }
const char* ibv_wr_opcode_str(int opcode) { return opcode ? "" : "none"; }
