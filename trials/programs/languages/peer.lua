-- README.md says what it does.
local ffi = require('ffi')

local SIZE, SLOTS, SENT = 1024, 3, 1000 -- of each peer: two slots to receive into, one to send from
local RC, SEND, SIGNALED, LOCAL_WRITE, MTU_1024 = 2, 2, 2, 1, 3
local INIT, RTR, RTS = 1, 2, 3
local MASK = {
  [INIT] = 0x1 + 0x8 + 0x10 + 0x20, -- STATE, ACCESS_FLAGS, PKEY_INDEX, PORT
  [RTR] = 0x1 + 0x80 + 0x100 + 0x1000 + 0x8000 + 0x20000 + 0x100000, -- AV, PATH_MTU, RQ_PSN, MIN_RNR_TIMER, MAX_DEST_RD_ATOMIC, DEST_QPN
  [RTS] = 0x1 + 0x200 + 0x400 + 0x800 + 0x2000 + 0x10000, -- TIMEOUT, RETRY_CNT, RNR_RETRY, MAX_QP_RD_ATOMIC, SQ_PSN
}

local folder = arg[0]:match('^(.*)/') or '.'
ffi.cdef(assert(io.open(folder .. '/verbs.cdef')):read('*a'))
ffi.cdef('int sched_yield(void); const char *inet_ntop(int family, const void *from, char *to, unsigned int size);')
local verbs = ffi.load('libibverbs.so.1')

local function need(pointer, what)
  if pointer == nil then error(what) end
  return pointer
end
local function check(status, what)
  if status ~= 0 then error(what .. ': ' .. status) end
end

local own, count, index, rounds = tonumber(arg[1]), tonumber(arg[2]), tonumber(arg[3]), tonumber(arg[4])
local context = need(verbs.ibv_open_device(need(verbs.ibv_get_device_list(nil), 'no devices')[0]), 'ibv_open_device')
local pd = need(verbs.ibv_alloc_pd(context), 'ibv_alloc_pd')
local memory = ffi.new('uint8_t[?]', count * SLOTS * SIZE)
local mr = need(verbs.ibv_reg_mr(pd, memory, count * SLOTS * SIZE, LOCAL_WRITE), 'ibv_reg_mr')
local cq = need(verbs.ibv_create_cq(context, 4 * count, nil, nil, 0), 'ibv_create_cq')
local gid = ffi.new('union ibv_gid')
check(verbs.ibv_query_gid(context, 1, index, gid), 'ibv_query_gid')

local sge = ffi.new('struct ibv_sge[1]')
local recv, bad_recv = ffi.new('struct ibv_recv_wr'), ffi.new('struct ibv_recv_wr *[1]')
local send, bad_send = ffi.new('struct ibv_send_wr'), ffi.new('struct ibv_send_wr *[1]')
local qps, came = {}, {}

local function slot(peer, which)
  local at = memory + (peer * SLOTS + which) * SIZE
  sge[0].addr, sge[0].length, sge[0].lkey = ffi.cast('uintptr_t', at), SIZE, mr.lkey
  return at
end

local function receive(peer, which)
  slot(peer, which)
  recv.wr_id, recv.sg_list, recv.num_sge = peer, sge, 1
  check(context.post_recv(qps[peer], recv, bad_recv), 'ibv_post_recv')
end

local function send_to(peer, round)
  local at, first = slot(peer, 2), 31 * own + 17 * peer + 7 * round
  for i = 0, SIZE - 1 do at[i] = (first + i) % 256 end
  send.wr_id, send.sg_list, send.num_sge, send.opcode, send.send_flags = SENT, sge, 1, SEND, SIGNALED
  check(context.post_send(qps[peer], send, bad_send), 'ibv_post_send')
end

local function take(peer)
  local round = came[peer]
  local at, first = memory + (peer * SLOTS + round % 2) * SIZE, 31 * peer + 17 * own + 7 * round
  for i = 0, SIZE - 1 do
    if at[i] ~= (first + i) % 256 then error('a byte of ' .. peer .. ' is wrong') end
  end
  came[peer] = round + 1
  receive(peer, round % 2)
  return round
end

local function connect(peer, number)
  local attr = ffi.new('struct ibv_qp_attr')
  attr.qp_state, attr.port_num = INIT, 1
  check(verbs.ibv_modify_qp(qps[peer], attr, MASK[INIT]), 'INIT')
  receive(peer, 0)
  receive(peer, 1)
  attr.qp_state, attr.path_mtu, attr.dest_qp_num, attr.max_dest_rd_atomic, attr.min_rnr_timer = RTR, MTU_1024, number, 1, 12
  local ah = attr.ah_attr
  ah.dgid, ah.sgid_index, ah.hop_limit, ah.is_global, ah.port_num = gid, index, 64, 1, 1
  check(verbs.ibv_modify_qp(qps[peer], attr, MASK[RTR]), 'RTR')
  attr.qp_state, attr.timeout, attr.retry_cnt, attr.rnr_retry, attr.max_rd_atomic = RTS, 14, 7, 7, 1
  check(verbs.ibv_modify_qp(qps[peer], attr, MASK[RTS]), 'RTS')
end

io.stdout:setvbuf('line')
local text = ffi.new('char[46]')
local words = { 'ready', ffi.string(ffi.C.inet_ntop(10, gid, text, 46)) }
for peer = 0, count - 1 do
  if peer ~= own then
    local init = ffi.new('struct ibv_qp_init_attr')
    init.send_cq, init.recv_cq, init.qp_type = cq, cq, RC
    init.cap.max_send_wr, init.cap.max_recv_wr, init.cap.max_send_sge, init.cap.max_recv_sge = 2, 2, 1, 1
    qps[peer], came[peer] = need(verbs.ibv_create_qp(pd, init), 'ibv_create_qp'), 0
  end
  words[#words + 1] = qps[peer] and qps[peer].qp_num or 0
end
print(table.concat(words, ' '))
local peer = 0
for number in io.read('*l'):gmatch(' (%d+)') do
  if peer ~= own then connect(peer, tonumber(number)) end
  peer = peer + 1
end
print('connected')
io.read('*l')
local messages, wc = 0, ffi.new('struct ibv_wc[8]')
for round = 0, rounds - 1 do
  local awaited = 0 -- completions: of what it sends, and of the messages of this round that have not come before
  for other, so_far in pairs(came) do
    awaited = awaited + (so_far == round and 2 or 1)
    send_to(other, round)
  end
  while awaited > 0 do
    local got = context.poll_cq(cq, 8, wc)
    if got == 0 then ffi.C.sched_yield() end
    for i = 0, got - 1 do
      if wc[i].status ~= 0 then error(ffi.string(verbs.ibv_wc_status_str(wc[i].status))) end
      local id = tonumber(wc[i].wr_id)
      if id == SENT then
        awaited = awaited - 1
      else
        if take(id) == round then awaited = awaited - 1 end
        messages = messages + 1
      end
    end
  end
end
print('done ' .. messages)
io.read('*a')
