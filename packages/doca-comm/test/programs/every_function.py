#!/usr/bin/env python3
"""Every function of Comch, of engines, contexts and tasks, of memory and buffers: with right and wrong arguments, in every
state.

    every_function.py COMCH COMMON    the paths of libdoca_comch.so.2 and libdoca_common.so.2

The functions are those that `nm -D` finds in the libraries: one without a row below is an error, and so is a row without a
function. Each is under both version nodes.
"""

import ctypes
import fcntl
import os
import re
import subprocess
import sys

SUCCESS, NOT_PERMITTED, IN_USE, NOT_SUPPORTED, AGAIN, INVALID, NO_MEMORY = 0, 2, 3, 4, 5, 6, 7
ABORTED, NOT_CONNECTED, BAD_STATE, TOO_BIG, IN_PROGRESS = 12, 14, 18, 27, 26
HOST, DPU = b"5f5f:3b:00.0", b"5f5f:03:00.0"
# States of both ends, and of the producer and the consumer of their connection: idle; the client starting; running with
# idle producer and consumer; all running; all stopping; all destroyed.
WORLDS = ("idle", "starting", "running", "paths", "stopping", "ended")

comch = ctypes.CDLL(sys.argv[1])
common = ctypes.CDLL(sys.argv[2])


def function(name, result=ctypes.c_int):
    found = getattr(comch if name.startswith("doca_comch") else common, name)
    found.restype = result
    return found


def call(name, *arguments, result=ctypes.c_int):
    return function(name, result)(*arguments)


def must(result, *allowed):
    assert result in (SUCCESS, *allowed), f"error {result}"
    return result


def pointer(value):
    return ctypes.c_void_p(value)


def created(name, *arguments):
    """The handle that a function writes through its last argument."""
    handle = ctypes.c_void_p()
    must(call(name, *arguments, ctypes.byref(handle)))
    return handle.value


def as_ctx(kind, handle):
    return call(f"doca_comch_{kind}_as_ctx", pointer(handle), result=ctypes.c_void_p)


# ---- what the rows pass

CALLBACK = ctypes.CFUNCTYPE(None)(lambda: None)  # of callbacks that are not called
scratch = ctypes.create_string_buffer(4096)
scratch_2 = ctypes.create_string_buffer(64)
garbage = ctypes.create_string_buffer(4096)
memory = ctypes.create_string_buffer(1 << 16)
# A memory file that cannot shrink, which the model takes for a dma-buf.
memory_file = os.memfd_create("memory", os.MFD_ALLOW_SEALING)
os.ftruncate(memory_file, 1 << 16)
fcntl.fcntl(memory_file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)


class H:
    """A handle of the world."""

    def __init__(self, name, optional=False):
        self.name, self.optional = name, optional

    def right(self, world):
        return pointer(world.get(self.name))

    def wrong(self, world):
        other = OTHERS["mmap" if self.name.endswith("pe") else "pe"]
        values = [STALE.get(self.name), other, ctypes.addressof(garbage)] + ([] if self.optional else [None])
        # The memory of a stale one may be in use again.
        return [pointer(value) for value in values if value is None or value not in world.values()]


class Out:
    def __init__(self, optional=False, second=False):
        self.optional, self.buffer = optional, scratch_2 if second else scratch

    def right(self, world):
        return pointer(ctypes.addressof(self.buffer))

    def wrong(self, world):
        return [] if self.optional else [pointer(None)]


class Value:
    def __init__(self, kind, right, *wrong):
        self.kind, self.value, self.bad = kind, right, wrong

    def right(self, world):
        return self.kind(self.value(world) if callable(self.value) else self.value)

    def wrong(self, world):
        return [self.kind(value) for value in self.bad]


def u32(right, *wrong):
    return Value(ctypes.c_uint32, right, *wrong)


def size(right, *wrong):
    return Value(ctypes.c_size_t, right, *wrong)


def text(right, *wrong):
    return Value(ctypes.c_char_p, right, None, *wrong)


def address(offset=0, *wrong):
    return Value(ctypes.c_void_p, lambda _: ctypes.addressof(memory) + offset, None, *wrong)


DATA = Value(ctypes.c_uint64, 7)
CB = Value(ctypes.c_void_p, ctypes.cast(CALLBACK, ctypes.c_void_p).value, None)

# ---- the rows: the kind of result, the arguments, what the right ones give in which world. A set is one of them. In a
# world that lacks one of the handles the stale one of another world is passed, which is wrong.

ROWS = {}


def row(name, kind, arguments, expected=SUCCESS, after=None, fresh=False, extra=()):
    by_world = expected if isinstance(expected, dict) else {"*": expected}
    ROWS[name] = (kind, arguments, by_world, after, fresh, extra)


def destroys(name):
    """Destroys what the call has created."""
    return lambda: must(call(name, pointer(ctypes.c_void_p.from_buffer(scratch).value)))


IDLE_ONLY = {"idle": SUCCESS, "*": BAD_STATE}
PATH_IDLE_ONLY = {"running": SUCCESS, "*": BAD_STATE}
C = "doca_comch_"

for role in ("server", "client"):
    info = f"{'dpu' if role == 'server' else 'host'}_info"
    other = f"{'client' if role == 'server' else 'server'}_connection"
    row(f"{C}cap_{role}_is_supported", "error", [H(info)],
        extra=[([H("host_info" if role == "server" else "dpu_info")], NOT_SUPPORTED)])
    row(f"{C}{role}_destroy", "error", [H(role)], {"idle": SUCCESS, "*": IN_USE}, fresh=True)
    for name, right, most in (("max_msg_size", 4080, 4081), ("recv_queue_size", 64, 8193)):
        row(f"{C}{role}_set_{name}", "error", [H(role), u32(right, 0, most, 0xFFFFFFFF)], IDLE_ONLY)
        row(f"{C}{role}_get_{name}", "error", [H(role), Out()])
    row(f"{C}{role}_get_device", "error", [H(role), Out()])
    row(f"{C}{role}_as_ctx", "pointer", [H(role)])
    row(f"{C}{role}_task_send_set_conf", "error", [H(role), CB, CB, u32(2, 0, 8193, 0xFFFFFFFF)], IDLE_ONLY)
    row(f"{C}{role}_task_send_alloc_init", "error",
        [H(role), H(f"{role}_connection"), address(), u32(10, 4081, 0xFFFFFFFF), Out()],
        {"running": SUCCESS, "paths": SUCCESS, "stopping": BAD_STATE}, fresh=True,
        extra=[([H(role), H(other), address(), u32(10), Out()], INVALID)])
    row(f"{C}{role}_event_msg_recv_register", "error", [H(role), CB], IDLE_ONLY)
    row(f"{C}{role}_event_consumer_register", "error", [H(role), CB, CB], IDLE_ONLY)
    row(f"{C}{role}_get_{role}_ctx", "pointer", [H(f"{role}_connection")], extra=[([H(other)], None)])
row(f"{C}server_create", "error", [H("dpu"), H("rep"), text(b"another", b"", b"x" * 120), Out()],
    after=destroys(f"{C}server_destroy"), extra=[([H("host"), H("rep"), text(b"x"), Out()], NOT_SUPPORTED)])
row(f"{C}client_create", "error", [H("host"), text(b"another", b"", b"x" * 120), Out()],
    after=destroys(f"{C}client_destroy"), extra=[([H("dpu"), text(b"x"), Out()], NOT_SUPPORTED)])
for name in ("max_name_len", "max_msg_size", "max_recv_queue_size", "max_send_tasks", "max_clients"):
    row(f"{C}cap_get_{name}", "error", [H("dpu_info"), Out()])
for name in ("rep", "repr"):
    row(f"{C}server_get_device_{name}", "error", [H("server"), Out()])
for name in ("status_changed_register", "register"):
    row(f"{C}server_event_connection_{name}", "error", [H("server"), CB, CB], IDLE_ONLY)
row(f"{C}server_disconnect", "error", [H("server"), H("server_connection")],
    {"running": SUCCESS, "paths": IN_USE, "stopping": BAD_STATE}, fresh=True,
    extra=[([H("server"), H("client_connection")], INVALID)])
row(f"{C}client_get_connection", "error", [H("client"), Out()], {"running": SUCCESS, "paths": SUCCESS, "*": BAD_STATE})
row(f"{C}task_send_as_task", "same", [H("send_task", optional=True)])
row(f"{C}connection_set_user_data", "error", [H("client_connection"), DATA])
row(f"{C}connection_get_user_data", "data", [H("server_connection")], 0)
row(f"{C}connection_update_info", "error", [H("client_connection")], {"stopping": ABORTED, "*": SUCCESS})
row(f"{C}connection_get_counter", "error", [H("server_connection"), u32(1, 0, 5, 0xFFFFFFFF), Out()])

row("doca_pe_create", "error", [Out()], after=destroys("doca_pe_destroy"))
row("doca_pe_destroy", "error", [H("spare_pe")], fresh=True, extra=[([H("pe")], IN_USE)])
row("doca_pe_connect_ctx", "error", [H("pe"), H("spare_ctx")], fresh=True,
    extra=[([H("pe"), H("client_ctx")], NOT_PERMITTED), ([H("spare_pe"), H("server_ctx")], NOT_PERMITTED)])
row("doca_pe_progress", "byte", [H("pe")], {"*": {0, 1}}, fresh=True)
row("doca_pe_get_notification_handle", "error", [H("pe"), Out()])
row("doca_pe_request_notification", "error", [H("pe")])
row("doca_pe_clear_notification", "error", [H("pe"), Value(ctypes.c_int, lambda world: world["fd"], -1, 0)])
row("doca_pe_set_event_mode", "error", [H("pe"), u32(1, 2, 0xFFFFFFFF)])
row("doca_pe_get_num_inflight_tasks", "error", [H("pe"), Out()])
row("doca_ctx_start", "error", [H("client_ctx")], {"idle": IN_PROGRESS, "*": BAD_STATE}, fresh=True,
    extra=[([H("spare_ctx")], NOT_CONNECTED)])
row("doca_ctx_stop", "error", [H("client_ctx")],
    {"idle": BAD_STATE, "paths": IN_USE, "stopping": IN_PROGRESS, "*": {SUCCESS, IN_PROGRESS}}, fresh=True)
row("doca_ctx_get_state", "error", [H("server_ctx"), Out()])
row("doca_ctx_set_state_changed_cb", "error", [H("spare_ctx"), CB], fresh=True)
row("doca_ctx_set_user_data", "error", [H("client_ctx"), DATA])
row("doca_ctx_get_user_data", "error", [H("client_ctx"), Out()])
row("doca_ctx_get_num_inflight_tasks", "error", [H("server_ctx"), Out()])
row("doca_ctx_flush_tasks", "nothing", [H("client_ctx")])
row("doca_ctx_set_completion_vector", "error", [H("client_ctx"), u32(0, 1)], IDLE_ONLY)
row("doca_ctx_cap_get_num_completion_vectors", "error", [H("host_info"), Out()])
for name in ("submit", "try_submit"):
    row(f"doca_task_{name}", "error", [H("send_task")], {"stopping": BAD_STATE, "*": SUCCESS}, fresh=True)
row("doca_task_submit_ex", "error", [H("send_task"), u32(3, 4, 0xFFFFFFFF)], {"stopping": BAD_STATE, "*": SUCCESS}, fresh=True)
row("doca_task_free", "nothing", [H("send_task")], fresh=True)
row("doca_task_get_status", "error", [H("send_task")])
row("doca_task_set_user_data", "nothing", [H("receive_task"), DATA])
row("doca_task_get_user_data", "data", [H("send_task")], 0)
row("doca_task_get_ctx", "pointer", [H("bulk_task")])

for path in ("consumer", "producer"):
    row(f"{C}{path}_cap_is_supported", "error", [H("dpu_info")])
    row(f"{C}{path}_destroy", "error", [H(path)], {"running": SUCCESS, "*": IN_USE}, fresh=True)
    row(f"{C}{path}_as_ctx", "pointer", [H(path)])
    row(f"{C}{path}_get_id", "error", [H(path), Out()])
for name in ("consumer_cap_get_max_num_tasks", "consumer_cap_get_max_buf_size", "consumer_cap_get_max_buf_list_len",
             "consumer_cap_get_max_consumers", "consumer_cap_get_max_imm_data_len", "producer_cap_get_max_num_tasks",
             "producer_cap_get_max_buf_size", "producer_cap_get_max_buf_list_len", "producer_cap_get_max_producers"):
    row(C + name, "error", [H("host_info"), Out()])
row(f"{C}consumer_create", "error", [H("server_connection"), H("mmap"), Out()], {"stopping": BAD_STATE, "*": SUCCESS},
    after=destroys(f"{C}consumer_destroy"), extra=[([H("server_connection"), H("spare_mmap"), Out()], INVALID)])
row(f"{C}producer_create", "error", [H("client_connection"), Out()], {"stopping": BAD_STATE, "*": SUCCESS},
    after=destroys(f"{C}producer_destroy"))
row(f"{C}consumer_set_imm_data_len", "error", [H("consumer"), u32(32, 33, 0xFFFFFFFF)], PATH_IDLE_ONLY)
row(f"{C}consumer_get_imm_data_len", "error", [H("consumer"), Out()])
row(f"{C}consumer_task_post_recv_set_conf", "error", [H("consumer"), CB, CB, u32(2, 0, 8193)], PATH_IDLE_ONLY)
row(f"{C}producer_task_send_set_conf", "error", [H("producer"), CB, CB, u32(2, 0, 8193)], PATH_IDLE_ONLY)
row(f"{C}consumer_task_post_recv_alloc_init", "error", [H("consumer"), H("buf", optional=True), Out()],
    {"paths": SUCCESS, "*": BAD_STATE}, fresh=True)
row(f"{C}producer_task_send_alloc_init", "error",
    [H("producer"), H("buf", optional=True), address(), u32(4, 33, 0xFFFFFFFF), u32(1), Out()],
    {"paths": SUCCESS, "*": BAD_STATE}, fresh=True)
row(f"{C}consumer_task_post_recv_get_buf", "pointer", [H("receive_task")])
row(f"{C}consumer_task_post_recv_set_buf", "nothing", [H("receive_task"), H("buf")])
row(f"{C}consumer_task_post_recv_get_producer_id", "number", [H("receive_task")], 0)
row(f"{C}consumer_task_post_recv_get_imm_data", "pointer", [H("receive_task")], None)
row(f"{C}consumer_task_post_recv_get_imm_data_len", "number", [H("receive_task")], 0)
row(f"{C}consumer_task_post_recv_as_task", "same", [H("receive_task", optional=True)])
row(f"{C}producer_task_send_get_buf", "pointer", [H("bulk_task")])
row(f"{C}producer_task_send_set_buf", "nothing", [H("bulk_task"), H("buf")])
row(f"{C}producer_task_send_get_consumer_id", "number", [H("bulk_task")], 1)
row(f"{C}producer_task_send_set_consumer_id", "nothing", [H("bulk_task"), u32(1)])
row(f"{C}producer_task_send_get_imm_data", "pointer", [H("bulk_task")])
row(f"{C}producer_task_send_get_imm_data_len", "number", [H("bulk_task")], 4)
row(f"{C}producer_task_send_set_imm_data", "nothing", [H("bulk_task"), address(), u32(4)])
row(f"{C}producer_task_send_as_task", "same", [H("bulk_task", optional=True)])

row("doca_mmap_create", "error", [Out()], after=destroys("doca_mmap_destroy"))
row("doca_mmap_destroy", "error", [H("spare_mmap")], fresh=True, extra=[([H("mmap")], NOT_PERMITTED)])
row("doca_mmap_start", "error", [H("spare_mmap")], fresh=True, extra=[([H("mmap")], BAD_STATE)])
row("doca_mmap_stop", "error", [H("mmap")], NOT_PERMITTED, extra=[([H("spare_mmap")], BAD_STATE)])
row("doca_mmap_add_dev", "error", [H("spare_mmap"), H("dpu")], fresh=True)
row("doca_mmap_rm_dev", "error", [H("spare_mmap"), H("host")], fresh=True)
row("doca_mmap_set_memrange", "error", [H("empty_mmap"), address(), size(64, 0, 2**64 - 1)], fresh=True)
row("doca_mmap_set_dmabuf_memrange", "error", [H("empty_mmap"), Value(ctypes.c_int, memory_file, -1), address(), size(0), size(64, 0, 2**64 - 1)], fresh=True)
row("doca_mmap_get_memrange", "error", [H("mmap"), Out(), Out(second=True)])
row("doca_mmap_set_permissions", "error", [H("spare_mmap"), u32(1, 0x80, 0x30)], fresh=True)
row("doca_mmap_set_free_cb", "error", [H("spare_mmap"), CB, Value(ctypes.c_void_p, None)], fresh=True)
row("doca_mmap_set_max_num_devices", "error", [H("spare_mmap"), u32(4, 0)], fresh=True)
row("doca_mmap_set_user_data", "error", [H("spare_mmap"), DATA], fresh=True)
for name in ("max_num_devices", "user_data", "num_bufs", "exported", "from_export"):
    row(f"doca_mmap_get_{name}", "error", [H("mmap"), Out()])
for name in ("is_export_pci_supported", "is_create_from_export_pci_supported"):
    row(f"doca_mmap_cap_{name}", "error", [H("dpu_info"), Out()])

row("doca_buf_inc_refcount", "error", [H("spare_buf"), Out(optional=True)], fresh=True)
row("doca_buf_dec_refcount", "error", [H("spare_buf"), Out(optional=True)], fresh=True)
for name in ("refcount", "len", "head", "data_len", "data", "next_in_list", "last_in_list", "list_len"):
    row(f"doca_buf_get_{name}", "error", [H("buf"), Out()])
for name in ("last", "first"):
    row(f"doca_buf_is_{name}_in_list", "error", [H("buf"), Out()])
row("doca_buf_is_in_list", "error", [H("buf"), Out()])
row("doca_buf_set_data", "error", [H("spare_buf"), address(256, 1), size(4, 257)], fresh=True)
row("doca_buf_set_data_len", "error", [H("spare_buf"), size(4, 257)], fresh=True)
row("doca_buf_reset_data_len", "error", [H("spare_buf")], fresh=True)
row("doca_buf_chain_list", "error", [H("buf"), H("spare_buf")], fresh=True, extra=[([H("buf"), H("buf")], INVALID)])
row("doca_buf_unchain_list", "error", [H("buf"), H("spare_buf")], INVALID)

for kind in ("inventory", "pool"):
    row(f"doca_buf_{kind}_destroy", "error", [H(kind)], IN_USE, extra=[([H(f"spare_{kind}")], SUCCESS)], fresh=True)
    for name in ("start", "stop"):
        row(f"doca_buf_{kind}_{name}", "error", [H(f"spare_{kind}")], fresh=True)
    row(f"doca_buf_{kind}_set_user_data", "error", [H(kind), DATA])
    for name in ("user_data", "num_elements", "num_free_elements"):
        row(f"doca_buf_{kind}_get_{name}", "error", [H(kind), Out()])
row("doca_buf_inventory_create", "error", [size(4, 0), Out()], after=destroys("doca_buf_inventory_destroy"))
row("doca_buf_inventory_buf_get_by_args", "error",
    [H("inventory"), H("mmap"), address(), size(64, 1 << 17), address(8, 1), size(8, 65), Out()], fresh=True,
    extra=[([H("spare_inventory"), H("mmap"), address(), size(64), address(), size(8), Out()], BAD_STATE)])
for name in ("addr", "data"):
    row(f"doca_buf_inventory_buf_get_by_{name}", "error",
        [H("inventory"), H("mmap"), address(), size(64, 1 << 17), Out()], fresh=True)
row("doca_buf_inventory_buf_dup", "error", [H("inventory"), H("buf"), Out()], fresh=True)
row("doca_buf_pool_create", "error", [size(4, 0), size(64, 0), H("mmap"), Out()], after=destroys("doca_buf_pool_destroy"))
row("doca_buf_pool_buf_alloc", "error", [H("pool"), Out()], fresh=True, extra=[([H("spare_pool"), Out()], BAD_STATE)])
row("doca_buf_pool_set_element_alignment", "error", [H("spare_pool"), size(64, 0, 3)], fresh=True)
row("doca_buf_pool_get_element_alignment", "error", [H("pool"), Out()])

# ---- the worlds

OTHERS = {"pe": created("doca_pe_create"), "mmap": created("doca_mmap_create")}  # handles of other kinds
STALE = {}
kept = []  # what callbacks and the libraries point at


def find_devices():
    found = {}
    infos, count = ctypes.POINTER(ctypes.c_void_p)(), ctypes.c_uint32()
    must(call("doca_devinfo_create_list", ctypes.byref(infos), ctypes.byref(count)))
    for i in range(count.value):
        for name, pci in (("host", HOST), ("dpu", DPU)):
            equal = ctypes.c_uint8()
            must(call("doca_devinfo_is_equal_pci_addr", pointer(infos[i]), pci, ctypes.byref(equal)))
            if equal.value:
                found[f"{name}_info"] = infos[i]
                found[name] = created("doca_dev_open", pointer(infos[i]))
    reps = ctypes.POINTER(ctypes.c_void_p)()
    must(call("doca_devinfo_rep_create_list", pointer(found["dpu"]), 0, ctypes.byref(reps), ctypes.byref(count)))
    found["rep"] = created("doca_dev_rep_open", pointer(reps[0]))
    kept.extend([infos, reps])
    return found


DEVICES = find_devices()
serial = 0


def state_of(ctx):
    state = ctypes.c_int()
    must(call("doca_ctx_get_state", pointer(ctx), ctypes.byref(state)))
    return state.value


def progress_until(world, done):
    for _ in range(2_000_000):
        call("doca_pe_progress", pointer(world["pe"]), result=ctypes.c_uint8)
        if done():
            return
    sys.exit("nothing more happens")


def freed(task, user, ctx):
    call("doca_task_free", pointer(task), result=None)


FREED = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)(freed)
CONNECTED = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint8)(
    lambda event, connection, success: seen.append(connection)
)
seen = []


def mapped(world, with_range=True):
    mmap = created("doca_mmap_create")
    if with_range:
        must(call("doca_mmap_set_memrange", pointer(mmap), pointer(ctypes.addressof(memory)), ctypes.c_size_t(len(memory))))
        must(call("doca_mmap_set_permissions", pointer(mmap), 0x20))
        must(call("doca_mmap_add_dev", pointer(mmap), pointer(world["host"])))
    return mmap


def add_memory(world):
    mmap = world["mmap"] = mapped(world)
    must(call("doca_mmap_add_dev", pointer(mmap), pointer(world["dpu"])))
    must(call("doca_mmap_start", pointer(mmap)))
    world["spare_mmap"], world["empty_mmap"] = mapped(world), mapped(world, with_range=False)
    sizes = ctypes.c_size_t(4), ctypes.c_size_t(64)
    for name in ("inventory", "spare_inventory"):
        world[name] = created("doca_buf_inventory_create", sizes[0])
    for name in ("pool", "spare_pool"):
        world[name] = created("doca_buf_pool_create", *sizes, pointer(mmap))
    must(call("doca_buf_inventory_start", pointer(world["inventory"])))
    must(call("doca_buf_pool_start", pointer(world["pool"])))
    for name in ("buf", "spare_buf"):
        place = pointer(ctypes.addressof(memory) + (256 if name == "spare_buf" else 0)), ctypes.c_size_t(256)
        world[name] = created("doca_buf_inventory_buf_get_by_addr", pointer(world["inventory"]), pointer(mmap), *place)
    world["pool_buf"] = created("doca_buf_pool_buf_alloc", pointer(world["pool"]))


def add_ends(world):
    global serial
    serial += 1
    name = b"every-%d" % serial
    world["server"] = created(f"{C}server_create", pointer(world["dpu"]), pointer(world["rep"]), name)
    world["client"] = created(f"{C}client_create", pointer(world["host"]), name)
    world["spare"] = created(f"{C}client_create", pointer(world["host"]), b"spare")
    world["spare_ctx"] = as_ctx("client", world["spare"])
    for role in ("server", "client"):
        world[f"{role}_ctx"] = as_ctx(role, world[role])
        must(call(f"{C}{role}_task_send_set_conf", pointer(world[role]), FREED, FREED, 2))
    must(call(f"{C}server_event_connection_register", pointer(world["server"]), CONNECTED, CONNECTED))


def add_paths(world):
    world["consumer"] = created(f"{C}consumer_create", pointer(world["server_connection"]), pointer(world["mmap"]))
    world["producer"] = created(f"{C}producer_create", pointer(world["client_connection"]))
    must(call(f"{C}consumer_task_post_recv_set_conf", pointer(world["consumer"]), FREED, FREED, 2))
    must(call(f"{C}producer_task_send_set_conf", pointer(world["producer"]), FREED, FREED, 2))
    for kind in ("consumer", "producer"):
        world[f"{kind}_ctx"] = as_ctx(kind, world[kind])
        must(call("doca_pe_connect_ctx", pointer(world["pe"]), pointer(world[f"{kind}_ctx"])))


def start_paths(world):
    for kind in ("consumer", "producer"):
        must(call("doca_ctx_start", pointer(world[f"{kind}_ctx"])))
    world["receive_task"] = created(f"{C}consumer_task_post_recv_alloc_init", pointer(world["consumer"]), pointer(world["buf"]))
    world["bulk_task"] = created(f"{C}producer_task_send_alloc_init", pointer(world["producer"]), pointer(world["buf"]),
                                 b"1234", 4, 1)


def build(state):
    seen.clear()
    world = dict(DEVICES, state=state)
    world["pe"], world["spare_pe"] = created("doca_pe_create"), created("doca_pe_create")
    fd = ctypes.c_int()
    must(call("doca_pe_get_notification_handle", pointer(world["pe"]), ctypes.byref(fd)))
    world["fd"] = fd.value
    add_memory(world)
    add_ends(world)
    for role in ("server", "client"):
        must(call("doca_pe_connect_ctx", pointer(world["pe"]), pointer(world[f"{role}_ctx"])))
    if state == "idle":
        return world
    must(call("doca_ctx_start", pointer(world["server_ctx"])))
    must(call("doca_ctx_start", pointer(world["client_ctx"])), IN_PROGRESS)
    if state == "starting":
        return world
    progress_until(world, lambda: state_of(world["client_ctx"]) == 2 and seen)
    world["server_connection"] = seen[0]
    world["client_connection"] = created(f"{C}client_get_connection", pointer(world["client"]))
    world["send_task"] = created(f"{C}client_task_send_alloc_init", pointer(world["client"]),
                                 pointer(world["client_connection"]), pointer(ctypes.addressof(memory)), 5)
    add_paths(world)
    if state == "running":
        return world
    start_paths(world)
    if state == "stopping":
        held = created(f"{C}server_task_send_alloc_init", pointer(world["server"]), pointer(world["server_connection"]),
                       pointer(ctypes.addressof(memory)), 5)
        world["server_task"] = held
        for kind in ("producer", "consumer", "client", "server"):
            must(call("doca_ctx_stop", pointer(world[f"{kind}_ctx"])), IN_PROGRESS)
            assert state_of(world[f"{kind}_ctx"]) == 3, kind
    return world


def tear_down(world):
    """Everything ends, whatever the calls have made of it; its handles are stale from here on."""
    for name in ("send_task", "receive_task", "bulk_task", "server_task"):
        call("doca_task_free", pointer(world.get(name)), result=None)
    for kind in ("producer", "consumer", "client", "server"):
        if kind not in world or as_ctx(kind, world[kind]) is None:
            continue
        ctx = world[f"{kind}_ctx"]
        free_new_tasks(world)
        if state_of(ctx) != 0:
            must(call("doca_ctx_stop", pointer(ctx)), IN_PROGRESS)
            progress_until(world, lambda: state_of(ctx) == 0)
        must(call(f"{C}{kind}_destroy", pointer(world[kind])))
    for buf in (world["spare_buf"], world["buf"], world["pool_buf"], *world.get("new_bufs", ())):
        while call("doca_buf_dec_refcount", pointer(buf), None) == SUCCESS:
            pass
    for kind, names in (("comch_client", ["spare"]), ("buf_pool", ["pool", "spare_pool"]),
                        ("buf_inventory", ["inventory", "spare_inventory"]), ("mmap", ["mmap", "spare_mmap", "empty_mmap"]),
                        ("pe", ["pe", "spare_pe"])):
        for name in names:
            must(call(f"doca_{kind}_destroy", pointer(world[name])), INVALID)
    STALE.update({name: value for name, value in world.items() if name not in DEVICES and name != "fd"})


def free_new_tasks(world):
    for task in world.pop("new_tasks", ()):
        call("doca_task_free", pointer(task), result=None)


# ---- the calls

RESULTS = {"error": ctypes.c_int, "pointer": ctypes.c_void_p, "same": ctypes.c_void_p, "nothing": None,
           "data": ctypes.c_uint64, "number": ctypes.c_uint32, "byte": ctypes.c_uint8}
failures = []
calls = 0


def expect(what, got, allowed):
    global calls
    calls += 1
    if got not in allowed:
        failures.append(f"{what}: {got}, not {' or '.join(map(str, allowed))}")


def wrong_result(kind):
    return {"error": INVALID, "pointer": None, "nothing": None}.get(kind, 0)


def lacks(world, arguments):
    return any(isinstance(each, H) and not each.optional and each.name not in world for each in arguments)


def right_results(kind, by_world, world, right):
    if kind == "same":
        return {right[0].value}
    state = world["state"]
    expected = by_world.get(state, by_world.get("*"))
    if kind == "pointer" and expected == SUCCESS and expected is not None:
        return "any"
    if kind == "nothing":
        return {None}
    return expected if isinstance(expected, set) else {expected}


def check(name, world):
    kind, arguments, by_world, after, fresh, extra = ROWS[name]
    target = function(name, RESULTS[kind])
    state = world["state"]
    right = [each.right(world) if not (isinstance(each, H) and each.name not in world) else pointer(STALE.get(each.name))
             for each in arguments]
    missing = lacks(world, arguments)
    allowed = {wrong_result(kind)} if missing and kind != "same" else right_results(kind, by_world, world, right)
    if kind != "same":
        for i, each in enumerate(arguments):
            for bad in each.wrong(world):
                got = target(*right[:i], bad, *right[i + 1:])
                also = set() if isinstance(each, H) or allowed == "any" else allowed - {SUCCESS, IN_PROGRESS}
                if kind == "nothing" or name.endswith(("set_imm_data", "_set_consumer_id")):
                    also = {None}
                expect(f"{state}: {name}, argument {i + 1} is {bad}", got, {wrong_result(kind)} | also)
    for others, expected in extra:
        if not lacks(world, others):
            got = target(*[each.right(world) for each in others])
            expect(f"{state}: {name}, otherwise", got, {expected})
    got = target(*right)
    if allowed == "any":
        expect(f"{state}: {name}", got is not None, {True})
    else:
        expect(f"{state}: {name}", got, allowed)
    if got == SUCCESS and kind == "error":
        if after:
            after()
        elif name.endswith("alloc_init"):
            world.setdefault("new_tasks", []).append(ctypes.c_void_p.from_buffer(scratch).value)
        elif "_buf_get_by" in name or name.endswith(("_dup", "_buf_alloc")):
            world.setdefault("new_bufs", []).append(ctypes.c_void_p.from_buffer(scratch).value)
    return fresh


def used_up():
    """All tasks, all buffers, all places of a queue."""
    world = build("paths")
    client, connection = pointer(world["client"]), pointer(world["client_connection"])
    message = pointer(ctypes.addressof(memory))
    task = ctypes.c_void_p()
    allocate = lambda: call(f"{C}client_task_send_alloc_init", client, connection, message, 5, ctypes.byref(task))
    expect("a second task", allocate(), {SUCCESS})
    world["new_tasks"] = [task.value]
    expect("a third task of two", allocate(), {NO_MEMORY})
    for kind, arguments in (("consumer_task_post_recv", (pointer(None),)), ("producer_task_send", (None, None, 0, 1))):
        allocate = lambda: call(f"{C}{kind}_alloc_init", pointer(world[kind.split("_")[0]]), *arguments, ctypes.byref(task))
        expect(f"a second task of {kind}", allocate(), {SUCCESS})
        world["new_tasks"].append(task.value)
        expect(f"a third task of {kind}", allocate(), {NO_MEMORY})
    place = pointer(world["mmap"]), message, ctypes.c_size_t(8), ctypes.byref(task)
    for expected in (SUCCESS, SUCCESS, NO_MEMORY):
        got = call("doca_buf_inventory_buf_get_by_addr", pointer(world["inventory"]), *place)
        expect("a buffer of four", got, {expected})
        if got == SUCCESS:
            world.setdefault("new_bufs", []).append(task.value)
    tear_down(world)


def exported(path, prefixes):
    """The functions of a library, each with its version nodes."""
    found = {}
    lines = subprocess.run(["nm", "-D", "--defined-only", path], check=True, capture_output=True, text=True).stdout
    for name, node in re.findall(r" [TW] (doca_\w+)@@?(\w+)$", lines, re.M):
        if name.startswith(prefixes):
            found.setdefault(name, set()).add(node)
    return found


def main():
    functions = exported(sys.argv[1], ("doca_",)) | exported(
        sys.argv[2], ("doca_pe_", "doca_ctx_", "doca_task_", "doca_mmap_", "doca_buf_")
    )
    for name in sorted(functions.keys() ^ ROWS.keys()):
        failures.append(f"{name}: {'no row' if name in functions else 'no function'}")
    for name, nodes in sorted(functions.items()):
        if nodes != {"DOCA_2", "EXPERIMENTAL"}:
            failures.append(f"{name}: only under {nodes}")
    tear_down(build("stopping"))  # stale handles of every kind
    for state in WORLDS:
        world = build("paths" if state == "ended" else state)
        world["state"] = state
        if state == "ended":
            tear_down(world)
            world = dict(DEVICES, state=state, fd=-1)
        for name in sorted(functions.keys() & ROWS.keys()):
            if check(name, world) and state != "ended":
                tear_down(world)
                world = build(state)
        if state != "ended":
            tear_down(world)
    used_up()
    for failure in failures:
        print(failure)
    print(f"{len(functions)} functions, {calls} calls, {len(failures)} wrong")
    sys.exit(1 if failures else 0)


main()
