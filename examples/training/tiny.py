"""A random language model of a few thousand parameters whose words are whole kernels.

It stands for the model of a training loop: each of its completions is one word, so one candidate. It needs no
download, and learns within a few steps which words the referee likes.
"""

import json
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

PAD, END, UNKNOWN = "<pad>", "<end>", "<unknown>"
TEMPLATE = "{% for message in messages %}{{ message['content'] }} {% endfor %}"
PROMPT_WORDS = 2048


def tiny_tokenizer(answers: Sequence[str], names: Sequence[str]) -> PreTrainedTokenizerFast:
    """Knows whole answers, and of prompts only ``names``."""
    words = [PAD, END, UNKNOWN, *names, *answers]
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=END,
        unk_token=UNKNOWN,
        chat_template=TEMPLATE,
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )


def tiny_model(tokenizer: PreTrainedTokenizerFast, seed: int = 0) -> GPT2LMHeadModel:
    torch.manual_seed(seed)
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=PROMPT_WORDS + 8,
        n_embd=32,
        n_layer=1,
        n_head=2,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.eos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    return GPT2LMHeadModel(config)


class Chat:
    """Answers behind an endpoint as OpenAI's clients expect it, on a port of its own."""

    def __init__(self, answer: Callable[[list[dict[str, Any]]], str]) -> None:
        self.answer = answer
        self._http = _ChatServer(("127.0.0.1", 0), _Chat)
        self._http.chat = self
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


class TinyChat(Chat):
    """The model behind such an endpoint.

    The n-th answer to a prompt is the same in every instance, whatever the order in which prompts arrive.
    """

    def __init__(self, model: GPT2LMHeadModel, tokenizer: PreTrainedTokenizerFast) -> None:
        self._model, self._tokenizer = model.eval(), tokenizer
        self._asked: Counter[str] = Counter()
        self._lock = threading.Lock()
        super().__init__(self._said)

    def _said(self, messages: list[dict[str, Any]]) -> str:
        prompt = self._tokenizer.apply_chat_template(messages, return_tensors="pt", return_dict=True)
        with self._lock, torch.inference_mode():
            key = json.dumps(messages)
            self._asked[key] += 1
            draw = torch.Generator().manual_seed(zlib.crc32(f"{self._asked[key]} {key}".encode()))
            odds = self._model(**prompt).logits[0, -1].softmax(-1)
            return str(self._tokenizer.decode(torch.multinomial(odds, 1, generator=draw)))


class _ChatServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    chat: Chat


class _Chat(BaseHTTPRequestHandler):
    server: _ChatServer

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = {"role": "assistant", "content": self.server.chat.answer(request["messages"])}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        answer = {"id": "tiny", "object": "chat.completion", "created": 0, "model": request["model"]}
        body = json.dumps({**answer, "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass
