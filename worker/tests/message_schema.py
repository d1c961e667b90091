"""Prints the messages of the protocol as JSON, from their annotations, for the test that compares them with the JVM's records.

A type is ``int``, ``float``, ``str``, ``bool``, ``any``, or an object with one of ``list``, ``map`` (with ``keys``), ``enum`` and ``fields``. A
field has ``type`` and ``optional``: whether it may be absent, or null.
"""

import dataclasses
import json
import types
import typing

from kbx.messages import oracle, runner, zygote

SCALARS = {int: "int", float: "float", str: "str", bool: "bool", typing.Any: "any"}


def of(hint):
    if hint in SCALARS:
        return SCALARS[hint]
    arguments = typing.get_args(hint)
    match typing.get_origin(hint):
        case typing.Literal:
            return {"enum": sorted(arguments)}
        case origin if origin is list:
            return {"list": field(arguments[0])}
        case origin if origin is dict:
            return {"map": field(arguments[1]), "keys": of(arguments[0])}
    if typing.is_typeddict(hint):
        hints = typing.get_type_hints(hint)
        return {"fields": {name: field(each, name in hint.__required_keys__) for name, each in hints.items()}}
    raise TypeError(f"no type of the protocol: {hint}")


def field(hint, required=True):
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        (rest,) = (each for each in typing.get_args(hint) if each is not type(None))
        return {"type": of(rest), "optional": True}
    return {"type": of(hint), "optional": not required}


def message(kind):
    hints = typing.get_type_hints(kind)
    return {"fields": {each.name: field(hints[each.name]) for each in dataclasses.fields(kind)}}


if __name__ == "__main__":
    peers = oracle, runner, zygote
    requests, answers = ({kind for peer in peers for kind in getattr(peer, name)} for name in ("REQUESTS", "ANSWERS"))
    said = {"requests": requests, "answers": answers}
    print(json.dumps({name: {kind.TYPE: message(kind) for kind in kinds} for name, kinds in said.items()}))
