#!/usr/bin/env python3
"""Both ends of Comch's control path in Python, by ctypes alone, with an epoll loop.

    comch.py server NAME        answers each message with its bytes reversed, until the client leaves
    comch.py client NAME COUNT  sends COUNT messages, 8 at a time, and compares every answer
"""

import ctypes
import select
import sys

common = ctypes.CDLL("libdoca_common.so.2")
comch = ctypes.CDLL("libdoca_comch.so.2")
for name in ("doca_comch_server_as_ctx", "doca_comch_client_as_ctx", "doca_comch_task_send_as_task"):
    getattr(comch, name).restype = ctypes.c_void_p
common.doca_pe_progress.restype = ctypes.c_uint8
common.doca_error_get_name.restype = ctypes.c_char_p

SUCCESS, AGAIN, NO_MEMORY, IN_PROGRESS = 0, 5, 7, 26
IDLE, RUNNING = 0, 2
TASKS = 16

Data = ctypes.c_uint64  # union doca_data: eight bytes, by value
OnTask = ctypes.CFUNCTYPE(None, ctypes.c_void_p, Data, Data)
OnMessage = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint8), ctypes.c_uint32, ctypes.c_void_p
)
OnConnection = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint8)


def check(result, *allowed):
    if result not in (SUCCESS, *allowed):
        sys.exit(f"error {common.doca_error_get_name(result).decode()}")
    return result


def open_device(pci):
    devices, count = ctypes.POINTER(ctypes.c_void_p)(), ctypes.c_uint32()
    check(common.doca_devinfo_create_list(ctypes.byref(devices), ctypes.byref(count)))
    device = ctypes.c_void_p()
    for i in range(count.value):
        equal = ctypes.c_uint8()
        info = ctypes.c_void_p(devices[i])
        check(common.doca_devinfo_is_equal_pci_addr(info, pci, ctypes.byref(equal)))
        if equal.value:
            check(common.doca_dev_open(info, ctypes.byref(device)))
    check(common.doca_devinfo_destroy_list(devices))
    return device


def open_representor(device):
    representors, count = ctypes.POINTER(ctypes.c_void_p)(), ctypes.c_uint32()
    check(common.doca_devinfo_rep_create_list(device, 0, ctypes.byref(representors), ctypes.byref(count)))
    representor = ctypes.c_void_p()
    check(common.doca_dev_rep_open(ctypes.c_void_p(representors[0]), ctypes.byref(representor)))
    check(common.doca_devinfo_rep_destroy_list(representors))
    return representor


class End:
    def __init__(self, role, name):
        self.role, self.received, self.ended, self.connection = role, [], False, None
        self.in_flight, self.waiting = {}, []
        self.pe, self.handle = ctypes.c_void_p(), ctypes.c_int()
        check(common.doca_pe_create(ctypes.byref(self.pe)))
        check(common.doca_pe_get_notification_handle(self.pe, ctypes.byref(self.handle)))
        self.epoll = select.epoll()
        self.epoll.register(self.handle.value, select.EPOLLIN)
        self.object = ctypes.c_void_p()
        if role == "server":
            self.device = open_device(b"5f5f:03:00.0")
            self.representor = open_representor(self.device)
            check(comch.doca_comch_server_create(self.device, self.representor, name, ctypes.byref(self.object)))
        else:
            self.device = open_device(b"5f5f:3b:00.0")
            check(comch.doca_comch_client_create(self.device, name, ctypes.byref(self.object)))
        # The callbacks live as long as the object.
        self.callbacks = (
            OnTask(lambda task, number, _: self.sent(task, number)),
            OnTask(lambda task, number, _: self.sent(task, number)),
            OnMessage(lambda _, data, length, connection: self.message(bytes(data[:length]), connection)),
            OnConnection(lambda _, connection, success: setattr(self, "connection", connection)),
            OnConnection(lambda _, connection, success: setattr(self, "ended", True)),
        )
        check(self.call("task_send_set_conf", self.callbacks[0], self.callbacks[1], TASKS))
        check(self.call("event_msg_recv_register", self.callbacks[2]))
        if role == "server":
            check(self.call("event_connection_status_changed_register", self.callbacks[3], self.callbacks[4]))
        self.ctx = ctypes.c_void_p(getattr(comch, f"doca_comch_{role}_as_ctx")(self.object))
        check(common.doca_pe_connect_ctx(self.pe, self.ctx))
        check(common.doca_ctx_start(self.ctx), IN_PROGRESS)

    def call(self, name, *arguments):
        return getattr(comch, f"doca_comch_{self.role}_{name}")(self.object, *arguments)

    def state(self):
        state = ctypes.c_int()
        check(common.doca_ctx_get_state(self.ctx, ctypes.byref(state)))
        return state.value

    def message(self, data, connection):
        self.received.append(data)
        if self.role == "server":
            self.waiting.append(data[::-1])

    def sent(self, task, number):
        del self.in_flight[number]
        common.doca_task_free(ctypes.c_void_p(comch.doca_comch_task_send_as_task(ctypes.c_void_p(task))))

    def send(self, data):
        """False if there is no task or no room: then progress helps."""
        buffer, task = ctypes.create_string_buffer(data, len(data)), ctypes.c_void_p()
        connection = ctypes.c_void_p(self.connection)
        result = check(
            self.call("task_send_alloc_init", connection, buffer, len(data), ctypes.byref(task)), NO_MEMORY
        )
        if result == NO_MEMORY:
            return False
        base = ctypes.c_void_p(comch.doca_comch_task_send_as_task(task))
        common.doca_task_set_user_data(base, Data(task.value))
        self.in_flight[task.value] = buffer  # unchanged until the completion
        if check(common.doca_task_submit(base), AGAIN) == AGAIN:
            del self.in_flight[task.value]
            common.doca_task_free(base)
            return False
        return True

    def wait(self, done):
        while not done():
            while self.waiting and self.connection and not self.ended and self.send(self.waiting[0]):
                self.waiting.pop(0)
            if common.doca_pe_progress(self.pe):
                continue
            check(common.doca_pe_request_notification(self.pe))
            if not common.doca_pe_progress(self.pe) and not self.epoll.poll(20):
                sys.exit("nothing woke the program for 20 seconds")
            check(common.doca_pe_clear_notification(self.pe, self.handle))

    def close(self):
        check(common.doca_ctx_stop(self.ctx), IN_PROGRESS)
        self.wait(lambda: self.state() == IDLE)
        check(self.call("destroy"))
        check(common.doca_pe_destroy(self.pe))


def main():
    role, name = sys.argv[1], sys.argv[2].encode()
    end = End(role, name)
    if role == "server":
        print("running", flush=True)
        end.wait(lambda: end.ended)
    else:
        end.wait(lambda: end.state() in (RUNNING, IDLE))
        if end.state() != RUNNING:
            sys.exit("no connection")
        connection = ctypes.c_void_p()
        check(comch.doca_comch_client_get_connection(end.object, ctypes.byref(connection)))
        end.connection = connection.value
        texts = [f"message {i} ".encode() * (1 + i % 300) for i in range(int(sys.argv[3]))]
        for i in range(0, len(texts), 8):
            end.waiting += texts[i : i + 8]
            end.wait(lambda: len(end.received) == min(i + 8, len(texts)) and not end.in_flight)
        if end.received != [text[::-1] for text in texts]:
            sys.exit("a wrong answer")
        end.close()
    print(f"done, {len(end.received)} received", flush=True)


main()
