"""The name under which verifiers finds the environment with several turns: it imports one module by the id ``kbx-sessions``."""

from kbx.integrations.verifiers_sessions import KbxSessionEnv, KbxSessionTaskset, SeveralTurns

__all__ = ["KbxSessionEnv", "KbxSessionTaskset", "SeveralTurns"]
