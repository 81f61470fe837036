"""An API that knows nothing of payments. It only checks what a gate has told it (gate/README.md)."""
from fastapi import FastAPI, Request, Response

from paid import paid

app = FastAPI()


def payment_of(request: Request) -> dict:
    return {"settlement": request.headers["quittance-settlement"], "checked": paid(request)}


@app.get("/report")
async def report(request: Request, city: str = "Ulm") -> dict:
    return {"report": f"All is well in {city}.", **payment_of(request)}


@app.post("/report")
async def posted(request: Request) -> dict:
    sent = await request.json()
    return {"report": f"All is well in {sent['city']}.", **payment_of(request)}


@app.get("/forecast")
async def forecast(request: Request) -> dict:
    return {"forecast": "Sun.", **payment_of(request)}


@app.post("/chat")
async def chat(request: Request, response: Response) -> dict:
    words = (await request.body()).decode().split()
    response.headers["X-Tokens"] = str(len(words))
    return {"words": len(words), **payment_of(request)}


@app.get("/free")
async def free() -> dict:
    return {"report": "A sample."}
