"""The bridge between kbx and a Ray cluster: it starts a kbx on every node and carries frames to and from them.

It decides nothing about candidates: which is judged where, and what becomes of one whose node died, is decided in the JVM.
"""
