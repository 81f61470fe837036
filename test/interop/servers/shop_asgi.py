"""The shop as FastAPI, for uvicorn and Hypercorn. PAGES: its texts by path, `/*` at an end for all below."""

import asyncio
import json
import os

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "QUERY"]

app = FastAPI()


def add(path: str, text: str) -> None:
    async def serve(request: Request) -> PlainTextResponse:
        if "slow" in request.url.query:
            await asyncio.sleep(0.15)
        return PlainTextResponse(text)

    app.api_route(path.replace("*", "{rest:path}"), methods=METHODS)(serve)


for each, page in json.loads(os.environ["PAGES"]).items():
    add(each, page)
