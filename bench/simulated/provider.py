"""A model that replies to every request after a fixed time, in OpenAI's format, with the kernel of a file.

Usage: provider.py SECONDS KERNEL.py ENTRY. Prints the port; at the end of its input, one line: requests, and the most in flight.
The name ENTRY in the kernel becomes that of the entry that the request asks for.
"""

import asyncio
import json
import re
import sys
from pathlib import Path

SECONDS, KERNEL, ENTRY = float(sys.argv[1]), Path(sys.argv[2]).read_text(encoding="utf-8"), sys.argv[3]
seen = {"requests": 0, "in flight": 0, "most in flight": 0}


def reply(body: bytes) -> bytes:
    """The whole HTTP answer to a request."""
    prompt = json.loads(body)["messages"][-1]["content"]
    entry = re.search(r"must define `(\w+)`", prompt)[1]
    code = re.sub(rf"\b{ENTRY}\b", entry, KERNEL)
    message = {"role": "assistant", "content": f"```python\n{code}```"}
    document = {
        "model": "simulated",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 500},
    }
    text = json.dumps(document).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(text) + text


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers the requests of one connection."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)[1])
            body = await reader.readexactly(length)
            seen["requests"] += 1
            seen["in flight"] += 1
            seen["most in flight"] = max(seen["most in flight"], seen["in flight"])
            await asyncio.sleep(SECONDS)
            seen["in flight"] -= 1
            writer.write(reply(body))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    """Serves until the end of standard input."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    print(f"{seen['requests']} requests, {seen['most in flight']} in flight at most")


asyncio.run(main())
