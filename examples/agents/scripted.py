"""A whole agent for `kbx run --method agent --program 'python3 examples/agents/scripted.py'`: it asks, writes, judges and corrects.

It needs nothing but the standard library, and speaks the format of Anthropic's or OpenAI's interface at the address that it is given.
"""

import json
import os
import re
import subprocess
import urllib.request

TURNS = 4


def ask(messages):
    """The model's reply to a list of messages."""
    model = os.environ["KBX_MODEL"]
    headers = {"Content-Type": "application/json"}
    if os.environ["KBX_PROVIDER"] == "anthropic":
        address = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
        headers |= {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "anthropic-version": "2023-06-01"}
        body = {"model": model, "max_tokens": 16384, "messages": messages}
    else:
        address = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
        headers["Authorization"] = "Bearer " + os.environ["OPENAI_API_KEY"]
        body = {"model": model, "messages": messages}
    request = urllib.request.Request(address, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=600) as reply:
        document = json.load(reply)
    if "choices" in document:
        return document["choices"][0]["message"]["content"]
    return "".join(block.get("text", "") for block in document["content"])


def main():
    with open("TASK.md") as file:
        messages = [{"role": "user", "content": file.read() + "\nReply with the file in one block of Python."}]
    for turn in range(TURNS):
        text = ask(messages)
        print(f"turn {turn}: {len(text)} characters", flush=True)
        blocks = re.findall(r"```(?:python)?\n(.*?)```", text, re.DOTALL)
        if not blocks:
            break
        with open("solution.py", "w") as file:
            file.write(blocks[-1])
        judged = subprocess.run(["kbx-judge"], capture_output=True, text=True)
        print(judged.stdout, judged.stderr, flush=True)
        if judged.returncode != 1:
            break
        messages += [
            {"role": "assistant", "content": text},
            {"role": "user", "content": judged.stdout + "\nCorrect it."},
        ]


if __name__ == "__main__":
    main()
