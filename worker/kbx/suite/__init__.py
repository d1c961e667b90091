"""What a task file imports: how to make inputs, and what counts as a right answer.

Start with ``inputs.Inputs`` (seeded tensors), then ``contracts.Close`` (the usual contract) and ``errors`` (its
reasoning). ``masks`` tells fair dropout masks from others. ``kbx.oracle`` runs task files; nothing here knows of
processes, arenas or messages.
"""

from kbx.suite import microscaling
from kbx.suite.contracts import Close, Contract, Exact, Outcome, Property, Random
from kbx.suite.drawn import drawn
from kbx.suite.errors import in_order
from kbx.suite.inputs import DISTRIBUTIONS, Call, Inputs, call
from kbx.suite.masks import dropout_complaints, mask_complaints
from kbx.suite.notation import noted
from kbx.suite.quantized import Schemes
from kbx.tensors import broadcast

__all__ = [
    "DISTRIBUTIONS", "Call", "Close", "Contract", "Exact", "Inputs", "Outcome", "Property", "Random", "Schemes", "broadcast",
    "call", "drawn", "dropout_complaints", "in_order", "mask_complaints", "microscaling", "noted",
]  # fmt: skip
