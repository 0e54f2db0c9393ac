#!/usr/bin/env python3
"""The HTTP server that the quickstart calls: answers each POST, and writes down what it was asked.

Usage: server.py PORT_FILE RECORD_FILE
It listens on a free port of 127.0.0.1, writes the port to PORT_FILE, and one line for each request
("<path and query> <body>") to RECORD_FILE.
"""

import http.server
import json
import os
import sys
import threading

port_file, record_file = sys.argv[1:3]
lock = threading.Lock()


class Recorder(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
        with lock, open(record_file, "a", encoding="utf-8") as record:
            record.write(f"{self.path} {body}\n")
        answer = json.dumps({"received": json.loads(body)}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
with open(port_file + ".new", "w", encoding="utf-8") as file:
    file.write(str(server.server_address[1]))
os.rename(port_file + ".new", port_file)
server.serve_forever()
