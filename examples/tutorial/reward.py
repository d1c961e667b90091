"""The rewards of the answers in models.jsonl, from a running kbx serve: docs/tutorial.md.

    ./kbx serve &
    pip install ./clients/python
    python3 examples/tutorial/reward.py

The answers are those of step 7.
"""

import json
from pathlib import Path

import kbx

ANSWERS = Path(__file__).with_name("models.jsonl")


def main() -> None:
    """Judges all answers as one batch, and prints each with its reward."""
    answers = [json.loads(line) for line in ANSWERS.read_text().splitlines()]
    candidates = [kbx.Candidate(answer["predict"], answer["file"].removesuffix(".py")) for answer in answers]
    with kbx.Client() as client:
        verdicts = client.judge_many(candidates)
    for answer, verdict in zip(answers, verdicts, strict=True):
        print(f"{kbx.shape(verdict):.2f}  {answer['model']:<8} {answer['file']:<20} {verdict.status}")


if __name__ == "__main__":
    main()
