# SPDX-License-Identifier: Apache-2.0
"""`hold_thread.py PID NAME SECONDS`: stops the threads of that name for that time, as a deadlock would. The
rest of the process continues. Prints begin and end in Unix milliseconds. Uses ptrace, because signals stop
whole processes."""
import ctypes
import os
import pathlib
import sys
import time

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
libc = ctypes.CDLL(None, use_errno=True)


def ptrace(request, thread):
    if libc.ptrace(ctypes.c_long(request), ctypes.c_long(thread), None, None) != 0:
        raise OSError(ctypes.get_errno(), f"ptrace {request:#x}")


pid, name, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
tasks = pathlib.Path(f"/proc/{pid}/task")
threads = [int(task.name) for task in tasks.iterdir() if (task / "comm").read_text().strip() == name]
if not threads:
    sys.exit(f"process {pid} has no thread {name}")
for thread in threads:
    ptrace(SEIZE, thread)
    ptrace(INTERRUPT, thread)
    os.waitpid(thread, 0x40000000)  # __WALL
begin = time.time()
time.sleep(seconds)
print(int(begin * 1000), int(time.time() * 1000))
for thread in threads:
    ptrace(DETACH, thread)
