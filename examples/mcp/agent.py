"""An agent without a model, over MCP: reads a task, has a wrong kernel judged, reads what is wrong, has the mended one judged.

    pip install mcp
    python3 examples/mcp/agent.py ./kbx mcp --budget 2
    KBX_TOKEN=kbx_... python3 examples/mcp/agent.py http://127.0.0.1:8470/mcp

Written for mcp 2.3. docs/mcp.md says how agents with a model are given the same tools.
"""

import asyncio
import os
import sys
from contextlib import asynccontextmanager

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

KERNEL = """
import torch
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, RESULT, mask=i < n)


def relu(input, inplace=False):
    x = input.contiguous()
    out = torch.empty_like(x)
    relu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return input.copy_(out) if inplace else out
"""
WRONG = KERNEL.replace("RESULT", "tl.abs(value)")
RIGHT = KERNEL.replace("RESULT", "tl.where(value < 0, 0, value)")


@asynccontextmanager
async def connected(words):
    """A client of a server at a URL, or of one that a command starts."""
    if not words[0].startswith("http"):
        async with Client(StdioServerParameters(command=words[0], args=words[1:])) as client:
            yield client
        return
    token = os.environ.get("KBX_TOKEN")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=120) as http,
        Client(streamable_http_client(words[0], http_client=http)) as client,
    ):
        yield client


async def called(client, tool, **arguments):
    """The text and the object that a tool answers; an error ends the agent."""
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text
    if result.is_error:
        sys.exit(f"{tool}: {text}")
    return text, result.structured_content


async def judged(client, source):
    """The verdict on a kernel, however long it takes."""
    text, verdict = await called(client, "judge", task="relu", source=source)
    while verdict.get("state") == "queued":
        text, verdict = await called(client, "explain", id=verdict["id"])
    return text, verdict


async def main(words):
    async with connected(words) as client:
        prompt, _ = await called(client, "prompt", task="relu")
        print(prompt.splitlines()[0])
        for source in (WRONG, RIGHT):
            text, verdict = await judged(client, source)
            print(f"{verdict['status']}: {verdict.get('message', 'nothing to mend')}")
            if verdict["status"] == "correct":
                return
            assert "expected 0, got" in text, text


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or ["./kbx", "mcp"]))
