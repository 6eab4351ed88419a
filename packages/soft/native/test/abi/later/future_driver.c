// A vendor's driver that was built for that release: its references are to nodes that our library has for them.
extern void verbs_register_driver_70(const void* ops);
extern int ibv_cmd_alloc_pd(void);
extern const char* ibv_wr_opcode_str(int opcode);

static int registered;
__attribute__((constructor)) static void begin(void) {
  verbs_register_driver_70(&registered);
  registered = 1;
}

int future_registered(void) { return registered; }
int future_command(void) { return ibv_cmd_alloc_pd(); }
const char* future_text(int opcode) { return ibv_wr_opcode_str(opcode); }
