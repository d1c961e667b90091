"""Calls each tool of kbx over MCP once, by the official client, and once as it must not be called: a line for each."""

import asyncio
import os
import pathlib
import sys
import tempfile

from agent import RIGHT, WRONG, connected
from mcp import MCPError

TOOLS = ["tasks", "prompt", "judge", "check", "explain", "profile", "reproduce", "best_known"]


async def right(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, (tool, result.content[0].text)
    print(f"{tool}: {result.content[0].text.splitlines()[0]}")
    return result.content[0].text, result.structured_content


async def wrong(client, part, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    [content] = result.content
    assert result.is_error, (tool, content.text)
    assert part in content.text, content.text
    assert "\n" not in content.text
    print(f"{tool}: {content.text}")


async def reproduced(client, id):
    text, _ = await right(client, "reproduce", id=id)
    compile(text, "reproduce.py", "exec")


async def verdicts(client, words):
    seen = []

    async def progress(seconds, total, message):
        seen.append(message)

    result = await client.call_tool("judge", {"task": "Activation/relu", "source": WRONG}, progress_callback=progress)
    verdict = result.structured_content
    assert verdict["status"] == "wrong_values", verdict
    assert "The first wrong elements" in result.content[0].text
    if os.environ.get("KBX_TOKEN") is None:
        assert seen, "no progress was told"
    await wrong(client, "did you mean relu", "judge", task="reluu", source=WRONG)
    text, _ = await right(client, "explain", id=verdict["id"])
    assert "First wrong elements" in text
    await wrong(client, "there is no verdict", "explain", id="none/0")
    text, _ = await right(client, "profile", id=verdict["id"])
    assert "Compiled for sm_90" in text
    await wrong(client, "id: is missing", "profile")
    kept = await correct(client)
    if os.environ.get("KBX_TOKEN") is None:
        await reproduced(client, verdict["id"])
        await wrong(client, "there is nothing to reproduce", "reproduce", id=kept)
    else:
        await wrong(client, "lacks the scope 'admin'", "reproduce", id=verdict["id"])
        os.environ["KBX_TOKEN"] = os.environ["ADMIN_TOKEN"]
        async with connected(words) as admin:
            await reproduced(admin, verdict["id"])
    text, best = await right(client, "best_known", task="relu")
    assert best["verdicts"] == 2, best
    assert len(best["best"]) == 1, best
    await wrong(client, "no task 'none'", "best_known", task="none")


async def correct(client):
    _, verdict = await right(client, "judge", task="relu", source=RIGHT)
    assert verdict["status"] == "correct", verdict
    return verdict["id"]


async def reference(client):
    """A kernel by a reference of one's own; a server takes none."""
    path = pathlib.Path(tempfile.mkdtemp()) / "my_ref.py"
    path.write_text("import torch\n\n\n# inputs: f32[16, 40]\ndef relu(x):\n    return torch.relu(x)\n")
    if os.environ.get("KBX_TOKEN"):
        await wrong(client, "a server judges by tasks", "judge", reference=str(path), source=RIGHT)
        return
    kernel = RIGHT.replace("input, inplace=False", "input").replace("input.copy_(out) if inplace else out", "out")
    _, verdict = await right(client, "judge", reference=str(path), source=kernel)
    assert verdict["status"] == "correct", verdict
    await wrong(client, "none.py", "judge", reference=str(path.with_name("none.py")), source=kernel)


async def resources(client):
    templates = await client.list_resource_templates()
    assert [each.uri_template for each in templates.resource_templates] == ["kbx://tasks/{suite}/{category}/{name}"]
    statement = await client.read_resource("kbx://tasks/kernelbenchx/Activation/relu")
    assert statement.contents[0].text.startswith("# relu\n")
    devices = await client.read_resource("kbx://devices")
    assert '"kind":"cpu"' in devices.contents[0].text
    try:
        await client.read_resource("kbx://tasks/kernelbenchx/Activation/none")
        raise AssertionError("a task that there is not was read")
    except MCPError as error:
        print(f"resource: {error}")


async def main(words):
    async with connected(words) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
        await right(client, "tasks", filter="relu*")
        await wrong(client, "whole number from 1 to 1000", "tasks", limit=0)
        await right(client, "prompt", task="relu", grade="general")
        await wrong(client, "grade: must be", "prompt", task="relu", grade="none")
        _, found = await right(client, "check", task="relu", source="def relu(x):\n    return x\n")
        assert found["findings"][0]["rule"] == "no-kernel", found
        await wrong(client, "source: is missing", "check")
        await verdicts(client, words)
        await resources(client)
        await reference(client)


asyncio.run(main(sys.argv[1:]))
