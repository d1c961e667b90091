"""The name under which verifiers finds the environment: it imports one module by the id ``kbx-verifiers``."""

from kbx.integrations.verifiers import KbxEnv, KbxTaskset, SingleTurn

__all__ = ["KbxEnv", "KbxTaskset", "SingleTurn"]
