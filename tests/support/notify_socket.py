# SPDX-License-Identifier: Apache-2.0
"""systemd's side of a service of Type=notify: `notify_socket.py PATH` receives datagrams at PATH and prints
each as a line of JSON with the time in milliseconds at which it was sent. Node has no Unix datagram
sockets."""
import json
import socket
import struct
import sys
import time

SO_TIMESTAMP = 29  # of Linux; the kernel's time, also if this process stands still

with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
    listener.bind(sys.argv[1])
    listener.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMP, 1)
    print(json.dumps({"at": time.time() * 1000, "lines": ["LISTENING"]}), flush=True)
    while True:
        text, [(_, _, stamp)], _, _ = listener.recvmsg(65536, 64)
        seconds, microseconds = struct.unpack("ll", stamp)
        at = seconds * 1000 + microseconds / 1000
        print(json.dumps({"at": at, "lines": text.decode().split("\n")}), flush=True)
