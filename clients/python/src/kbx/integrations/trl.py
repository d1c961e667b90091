"""For ``GRPOTrainer`` of TRL: a reward function for one turn, an environment and a rollout for several, and the rows of a data set."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from kbx.aio import AsyncClient
from kbx.client import Client
from kbx.errors import Conflict, JudgementFailed
from kbx.integrations.replies import Reply, reply_text
from kbx.integrations.turns import ended_on_error, following, is_over, taken
from kbx.models import Candidate, Options, Task, Verdict
from kbx.sessions import AsyncSession, Session, SessionOptions, Turn
from kbx.shaping import RewardShaping, shape

RewardFunction = Callable[..., Awaitable[list[float]]]


def reward_function(
    url: str | None = None,
    token: str | None = None,
    *,
    shaping: RewardShaping | None = None,
    options: Options | None = None,
    patience: float = 300.0,
) -> RewardFunction:
    """A coroutine function for ``GRPOTrainer(reward_funcs=...)``, which awaits it: elsewhere ``await`` it, or call it by ``asyncio.run``. It
    judges the completions of a step as one batch.

    The data set has a column ``task``, and ``suite`` if the tasks are not of the server's default suite; see
    ``rows``. The trainer awaits the function beside others. If there is no verdict on a completion it raises
    and so ends the step: a missing reward would count as 0.
    """

    async def kbx_reward(completions: Sequence[Reply], task: Sequence[str], **columns: Any) -> list[float]:
        suites = columns.get("suite") or [None] * len(task)
        candidates = [
            Candidate(reply_text(completion), name, suite)
            for completion, name, suite in zip(completions, task, suites, strict=True)
        ]
        # A client of one step: trainers may run each step in an event loop of its own.
        async with AsyncClient(url, token, patience=patience) as client:
            verdicts = await client.judge_many(candidates, options=options)
        for name, value in rates(verdicts).items():
            columns.get("log_metric", _ignore)(f"kbx/{name}", value)
        return [shape(verdict, shaping) for verdict in verdicts]

    return kbx_reward


def rates(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """Shares of a batch for a trainer's log: correct, right at the general grade, refused."""
    count = len(verdicts)
    if count == 0:
        return {}
    refused = {"rejected_static", "not_a_kernel", "cheating"}
    return {
        "correct": sum(verdict.correct is True for verdict in verdicts) / count,
        "general": sum(verdict.correct is True and verdict.general_ok is True for verdict in verdicts) / count,
        "refused": sum(verdict.status in refused for verdict in verdicts) / count,
    }


def rows(client: Client, tasks: Iterable[Task], *, grade: str | None = None) -> list[dict[str, Any]]:
    """Rows for ``Dataset.from_list``: the prompt of each task as a conversation, and what names the task."""
    return [
        {
            "prompt": [{"role": "user", "content": client.prompt(task, grade=grade)}],
            "task": task.path,
            "suite": task.suite,
        }
        for task in tasks
    ]


def _ignore(name: str, value: float) -> None:
    pass


def environment_factory(
    url: str | None = None,
    token: str | None = None,
    *,
    options: SessionOptions | None = None,
    shaping: RewardShaping | None = None,
) -> Callable[[], KernelSession]:
    """For ``GRPOTrainer(environment_factory=...)``: several turns, in which the model calls the tool ``judge_kernel``. The rows of the data set
    are those of ``rows``; the reward is that of the answer on held-out inputs, so that no ``reward_funcs`` are needed."""
    client = Client(url, token)
    return lambda: KernelSession(client, options, shaping)


class KernelSession:
    """One rollout of ``environment_factory``: a session that the model's tool calls go on with."""

    def __init__(self, client: Client, options: SessionOptions | None, shaping: RewardShaping | None) -> None:
        self._client, self._options, self._shaping = client, options, shaping
        self._session: Session | None = None

    def reset(self, task: str, suite: str | None = None, **others: Any) -> None:
        """Begins a session at the row's task; its prompt is the row's."""
        if self._session is not None:
            self._session.close()
        self._session = self._client.session(task, suite=suite, options=self._options, shaping=self._shaping)

    async def judge_kernel(self, code: str) -> str:
        """Runs and checks a kernel, and says what is wrong with it or how fast it is.

        Args:
            code: The complete Python source of the kernel.

        Returns:
            What was found.
        """
        session = self._begun()
        try:
            turn = await asyncio.to_thread(session.turn, code)
        except Conflict as spent:
            return spent.detail
        return turn.feedback or f"The result is: {turn.status}."

    def get_reward(self) -> float:
        """The reward of the session's answer. Raises ``NoVerdict`` if there is none: it is no reward of 0."""
        final = self._begun().final()
        if final.reward is None:
            raise JudgementFailed(f"session {self._begun().id}: {final.message or 'there is no reward'}")
        return final.reward

    def _begun(self) -> Session:
        if self._session is None:
            raise RuntimeError("no rollout has begun")
        return self._session


Generate = Callable[[Any, list[list[int]]], list[list[int]]]
"""From the trainer and token ids of conversations to the token ids of the replies."""


def session_rollout(
    rows: Iterable[Mapping[str, Any]],
    url: str | None = None,
    token: str | None = None,
    *,
    options: SessionOptions | None = None,
    shaping: RewardShaping | None = None,
    stop_when_correct: bool = True,
    generate: Generate | None = None,
) -> Callable[[list[Any], Any], dict[str, Any]]:
    """For ``GRPOTrainer(rollout_func=...)`` with ``reward_funcs=session_reward``: conversations of several turns for models that call no tools.

    ``rows`` are those of the data set: the trainer passes prompts alone, by which their tasks are found. A reply is judged, and the feedback is
    the next message of the user; its tokens are masked, so that the model is trained on its replies. ``generate`` is the trainer's model
    by default; with vLLM pass your own. The tokenizer's chat template must write replies as they are when messages follow.
    """
    tasks = {_key(row["prompt"]): (row["task"], row.get("suite")) for row in rows}
    produce = generate or _generated

    def rollout(prompts: list[Any], trainer: Any) -> dict[str, Any]:
        return asyncio.run(_rollout(prompts, trainer))

    async def _rollout(prompts: list[Any], trainer: Any) -> dict[str, Any]:
        async with AsyncClient(url, token) as client:
            begun = (
                client.session(task, suite=suite, options=options, shaping=shaping)
                for task, suite in (tasks[_key(prompt)] for prompt in prompts)
            )
            made = await asyncio.gather(*begun, return_exceptions=True)
            sessions = [each for each in made if isinstance(each, AsyncSession)]
            async with ended_on_error(sessions):
                for error in (each for each in made if isinstance(each, BaseException)):
                    raise error
                talks = [_Talk(trainer.processing_class, prompt) for prompt in prompts]
                playing = list(range(len(talks)))
                while playing:
                    replies = produce(trainer, [talks[index].ids for index in playing])
                    for index, reply in zip(playing, replies, strict=True):
                        talks[index].replied(reply)
                    turns = await asyncio.gather(*(taken(sessions[index], talks[index].reply) for index in playing))
                    left = []
                    for index, turn in zip(playing, turns, strict=True):
                        if turn is not None and not is_over(sessions[index], turn, stop_when_correct):
                            talks[index].answered(turn)
                            left.append(index)
                    playing = left
                finals = await asyncio.gather(*(session.final() for session in sessions))
        return {
            "prompt_ids": [talk.prompt_ids for talk in talks],
            "completion_ids": [talk.ids[len(talk.prompt_ids) :] for talk in talks],
            "logprobs": None,
            "env_mask": [talk.mask for talk in talks],
            "session_reward": [final.reward for final in finals],
            "turns": [len(session.turns) for session in sessions],
        }

    return rollout


def session_reward(completions: Sequence[Reply], session_reward: Sequence[float], **columns: Any) -> list[float]:
    """The rewards that ``session_rollout`` has found."""
    log = columns.get("log_metric", _ignore)
    turns = columns.get("turns") or []
    if turns:
        log("kbx/turns", sum(turns) / len(turns))
    return list(session_reward)


class _Talk:
    """One conversation in tokens: what the model wrote is trained on, what it was told is not."""

    def __init__(self, tokenizer: Any, prompt: Any) -> None:
        self._tokenizer = tokenizer
        self._messages: list[dict[str, str]] = [*prompt]
        self.prompt_ids: list[int] = self._rendered()
        self.ids = list(self.prompt_ids)
        self.mask: list[int] = []
        self.reply = ""

    def _rendered(self) -> list[int]:
        made = self._tokenizer.apply_chat_template(self._messages, add_generation_prompt=True, return_dict=True)
        return list(made["input_ids"])

    def replied(self, ids: list[int]) -> None:
        self.ids += ids
        self.mask += [1] * len(ids)
        self.reply = str(self._tokenizer.decode(ids, skip_special_tokens=True))

    def answered(self, turn: Turn) -> None:
        """Adds what the model is told: the tokens by which the rendered conversation is longer than that with the reply alone. Raises
        ``ValueError`` if it does not begin as that does."""
        without = self._with(self.reply)
        self._messages = following(self._messages, self.reply, turn)
        rendered = self._rendered()
        if rendered[: len(without)] != without:
            raise ValueError(
                "chat_template: it writes a reply otherwise once a message follows, as those do that leave out earlier thoughts, so that it is"
                " unknown where the feedback begins; give the tokenizer one that keeps replies, as trl's get_training_chat_template makes"
            )
        told = rendered[len(without) :]
        self.ids += told
        self.mask += [0] * len(told)

    def _with(self, reply: str) -> list[int]:
        messages = [*self._messages, {"role": "assistant", "content": reply}]
        return list(self._tokenizer.apply_chat_template(messages, return_dict=True)["input_ids"])


def _key(prompt: Any) -> str:
    return json.dumps(prompt, sort_keys=True)


def _generated(trainer: Any, conversations: list[list[int]]) -> list[list[int]]:
    """Samples from the trainer's own model, all conversations as one batch."""
    import torch

    tokenizer, model = trainer.processing_class, trainer.accelerator.unwrap_model(trainer.model)
    batch = tokenizer.pad({"input_ids": conversations}, padding_side="left", return_tensors="pt").to(model.device)
    with torch.no_grad():
        made = model.generate(**batch, generation_config=trainer.generation_config)
    replies = made[:, batch["input_ids"].shape[1] :].tolist()
    end = tokenizer.eos_token_id
    return [ids[: ids.index(end) + 1] if end in ids else ids for ids in replies]
