"""The shop on http.server of Python with keep-alive, which never reads a body: `shop_plain.py <port>`."""

import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

PAGES = json.loads(os.environ["PAGES"])


class Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def serve(self):
        path, _, query = self.path.partition("?")
        path = unquote(path)
        if "slow" in query:
            time.sleep(0.15)
        found = [
            text
            for each, text in PAGES.items()
            if path == each or (each.endswith("*") and path.startswith(each[:-1]))
        ]
        body = (found or ["nothing is here"])[0].encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = serve
    do_OPTIONS = do_PROPFIND = do_QUERY = do_TRACE = serve

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Shop).serve_forever()
