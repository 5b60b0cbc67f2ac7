# SPDX-License-Identifier: Apache-2.0
"""systemd's side of a service of Type=notify: `notify_socket.py PATH` receives datagrams at PATH and prints
each as a line of JSON with the time in milliseconds. Node has no Unix datagram sockets."""
import json
import socket
import sys
import time

with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
    listener.bind(sys.argv[1])
    print(json.dumps({"at": time.time() * 1000, "lines": ["LISTENING"]}), flush=True)
    while True:
        text = listener.recv(65536).decode()
        print(json.dumps({"at": time.time() * 1000, "lines": text.split("\n")}), flush=True)
