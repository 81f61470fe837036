"""The shop as WSGI, for gunicorn: by PATH_INFO, and without reading bodies. PAGES: as for shop_asgi."""

import json
import os
import time

PAGES = json.loads(os.environ["PAGES"])


def find(path):
    for each, text in PAGES.items():
        if path == each or (each.endswith("*") and path.startswith(each[:-1])):
            return text
    return None


def app(environ, start_response):
    if "slow" in environ.get("QUERY_STRING", ""):
        time.sleep(0.15)
    text = find(environ["PATH_INFO"])
    body = (text or "nothing is here").encode()
    start_response(
        "200 OK" if text else "404 Not Found",
        [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))],
    )
    return [body]
