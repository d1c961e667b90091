"""The parser of Triton IR: text, as Triton prints it, to ``kbx.ttir.tree``.

Each line is one operation, but for those that hold others: these end their line with a brace and go on in the line of the closing one.
Whatever is not known raises Unsupported with its line; nothing is skipped, but for layouts and attributes with a dialect's prefix,
which are hints to later passes of the compiler.
"""

from __future__ import annotations

import re
from typing import NoReturn

from kbx.ttir import constants
from kbx.ttir.errors import Unsupported
from kbx.ttir.grammar import FORMS, TERMINATORS, Form
from kbx.ttir.locations import Locations
from kbx.ttir.tokens import tokens_of, unquoted
from kbx.ttir.tree import Attribute, Block, Function, Location, Module, Operation, Successor, Value
from kbx.ttir.types import ELEMENTS, I32, Type, parse_type

_CONSTANT = re.compile(
    r"(%\S+) = arith\.constant (?:\{[^}]*\} )?(dense<[^>]*>|[^\s:]+)(?: : (.+?))?(?: loc\((.*)\))?\Z"
)
_SYMBOL = re.compile(r'@("[^"]*"|[\w.$\-]+)')


def parse(text: str) -> Module:
    """The module of a text; raises Unsupported."""
    return _Parser(text).module()


class _Line:
    """The tokens of a line and where reading stands."""

    __slots__ = ("number", "tokens", "at")

    def __init__(self, number: int, tokens: list[str]) -> None:
        self.number, self.tokens, self.at = number, tokens, 0
        tokens.append("")

    @property
    def next(self) -> str:
        """The token that comes, or an empty text at the end."""
        return self.tokens[self.at]

    def take(self) -> str:
        token = self.tokens[self.at]
        if token:
            self.at += 1
        return token

    def expect(self, *wanted: str) -> None:
        for token in wanted:
            if not self.accept(token):
                self.fail(f"{self.next or 'the end of a line'!r} where {token!r} should be")

    def accept(self, token: str) -> bool:
        if self.tokens[self.at] == token:
            self.at += 1
            return True
        return False

    def fail(self, what: str) -> NoReturn:
        raise Unsupported(self.number, what)


class _Body:
    """What was read of an operation between its name and the end of its first line."""

    def __init__(self) -> None:
        self.operands: list[Value] = []
        self.attributes: dict[str, Attribute] = {}
        self.words: list[tuple[int, str]] = []
        self.successors: list[Successor] = []
        self.text = ""
        self.types: list[Type] = []
        self.results: list[Type] | None = None
        """The types after an arrow or ``to``, where there is one."""


class _Parser:
    def __init__(self, text: str) -> None:
        self._locations = Locations(text)
        self._lines = [
            (i, line) for i, raw in enumerate(text.splitlines(), 1) if (line := raw.strip()) and line[0] != "#"
        ]
        self._at = 0
        self._values: dict[str, Value] = {}
        self._functions: dict[str, Function] = {}

    # ------------------------------------------------ module and functions

    def module(self) -> Module:
        while self._at < len(self._lines):
            number, text = self._lines[self._at]
            if text.startswith("tt.func"):
                function = self._function()
                self._functions[function.name] = function
            elif text.startswith(("module", "}")):
                self._at += 1
            else:
                raise Unsupported(number, f"{text[:60]!r} in a module")
        module = Module(self._functions)
        if sum(f.public for f in module.functions.values()) != 1:
            raise Unsupported(0, "a module without one public function")
        return module

    def _line(self) -> _Line:
        """The tokens of the next line."""
        number, text = self._lines[self._at] if self._at < len(self._lines) else (0, "")
        if not number:
            raise Unsupported(self._lines[-1][0] if self._lines else 0, "the end of the text")
        self._at += 1
        return _Line(number, tokens_of(text, number))

    def _function(self) -> Function:
        line = self._line()
        line.expect("tt.func")
        public = not line.accept("private") and line.accept("public")
        name = _symbol(line)
        self._values = {}
        arguments = self._arguments(line)
        results = self._types(line) if line.accept("->") else []
        if line.accept("attributes"):
            self._attributes(line)
        line.expect("{")
        blocks = self._region(Block("", arguments))
        self._end(self._line())
        return Function(name, public, arguments, results, blocks, line.number)

    def _arguments(self, line: _Line) -> list[Value]:
        """``(%a: type {attributes} loc(...), ...)``."""
        found: list[Value] = []
        line.expect("(")
        while not line.accept(")"):
            if found:
                line.expect(",")
            name = line.take()
            line.expect(":")
            found.append(self._define(name, self._type(line), line))
            if line.next == "{":
                self._attributes(line)
            if line.next.startswith("loc("):
                line.take()
        return found

    def _define(self, name: str, type: Type, line: _Line) -> Value:
        if name[:1] != "%":
            line.fail(f"{name!r} where a value should be named")
        value = self._values[name] = Value(name, type)
        return value

    def _use(self, name: str, line: _Line) -> Value:
        value = self._values.get(name)
        if value is None:
            line.fail(f"the value {name}, which is not defined before")
        return value

    # ------------------------------------------------ regions

    def _region(self, first: Block) -> list[Block]:
        """Blocks up to the line that begins with a closing brace, which is left."""
        blocks = [first]
        while True:
            number, text = self._lines[self._at] if self._at < len(self._lines) else (0, "")
            if not number:
                raise Unsupported(self._lines[-1][0], "the end of the text in a region")
            if text.startswith("}"):
                break
            if text.startswith("^"):
                block = self._block_head()
                if len(blocks) == 1 and not first.operations and not first.label:
                    block.arguments = first.arguments or block.arguments
                    blocks[0] = first = block
                else:
                    blocks.append(block)
            else:
                blocks[-1].operations.append(self._operation())
        self._link(blocks)
        return blocks

    def _block_head(self) -> Block:
        line = self._line()
        label = line.take()
        arguments = self._arguments(line) if line.next == "(" else []
        line.expect(":")
        return Block(label, arguments)

    @staticmethod
    def _link(blocks: list[Block]) -> None:
        named = {block.label: block for block in blocks}
        for number, block in enumerate(blocks):
            block.number = number
            for operation in block.operations:
                for successor in operation.successors:
                    if successor.label not in named:
                        raise Unsupported(operation.line, f"a branch to {successor.label}")
                    successor.block = named[successor.label]

    @staticmethod
    def _ended(blocks: list[Block], line: int) -> list[Block]:
        """With the ``scf.yield`` that is not printed where it yields nothing."""
        last = blocks[-1].operations
        if not last or last[-1].name not in TERMINATORS:
            last.append(Operation("scf.yield", [], [], {}, [], [], [], Location(), line))
        return blocks

    # ------------------------------------------------ operations

    def _operation(self) -> Operation:
        number, text = self._lines[self._at]
        if found := _CONSTANT.match(text):
            self._at += 1
            return self._constant(number, found)
        line = self._line()
        results = self._results(line)
        name = line.take()
        if name[:1] == '"':
            name = name[1:-1]
        special = {"scf.for": self._for, "scf.while": self._while, "scf.if": self._if}.get(name)
        if special is not None:
            return special(line, results)
        form = FORMS.get(name)
        if form is None:
            line.fail(f"the operation {name}")
        return self._general(line, name, form, results)

    def _constant(self, number: int, found: re.Match[str]) -> Operation:
        name, body, written, location = found.groups()
        type = parse_type(written, number) if written else parse_type("i1")
        dense = constants.constant(body, type, number)
        value = self._values[name] = Value(name, type)
        place = self._locations.of(location) if location else Location()
        return Operation("arith.constant", [], [value], {"value": dense}, [], [], [], place, number)

    @staticmethod
    def _results(line: _Line) -> list[str]:
        """Names of results: ``%a = ``, ``%a, %b = `` or ``%a:2 = ``."""
        names: list[str] = []
        if line.next[:1] != "%":
            return names
        while True:
            name = line.take()
            if line.accept(":"):
                names += [f"{name}#{i}" for i in range(int(line.take()))]
            else:
                names.append(name)
            if not line.accept(","):
                break
        line.expect("=")
        return names

    def _general(self, line: _Line, name: str, form: Form, names: list[str]) -> Operation:
        body, number = _Body(), line.number
        self._body(line, form, body)
        regions: list[list[Block]] = []
        if line.next == "{":
            line.take()
            regions.append(self._ended(self._region(Block("")), line.number))
            line = self._closed(line.number)
            line.expect(")")
            if line.next == "{":
                body.attributes |= self._attributes(line)
            line.expect(":")
            self._signature(line, body)
        location = self._end(line)
        self._check(line, name, form, body)
        types = self._result_types(line, form, body, len(names))
        results = [self._define(n, t, line) for n, t in zip(names, types, strict=True)]
        return Operation(
            name, body.operands, results, body.attributes, body.words, regions, body.successors, location, number, body.text
        )  # fmt: skip

    @staticmethod
    def _check(line: _Line, name: str, form: Form, body: _Body) -> None:
        for _, word in body.words:
            if word not in form.words:
                line.fail(f"the keyword {word} of {name}")
        for attribute in body.attributes:
            if attribute not in form.attributes and "." not in attribute:
                line.fail(f"the attribute {attribute} of {name}")

    @staticmethod
    def _result_types(line: _Line, form: Form, body: _Body, count: int) -> list[Type]:
        if not count:
            return []
        types = body.results
        if types is None:
            if not body.types:
                line.fail("an operation without types")
            try:
                types = [form.result(body.types)]
            except ValueError as error:
                line.fail(str(error))
        if len(types) == 1:
            return types * count
        if len(types) != count:
            line.fail(f"{len(types)} types of {count} results")
        return types

    def _body(self, line: _Line, form: Form, body: _Body) -> None:
        """Reads up to the location, or to the brace of a region, which is left."""
        while token := line.next:
            first = token[0]
            if token.startswith("loc("):
                return
            line.at += 1
            if first == "%":
                body.operands.append(self._use(token, line))
            elif token == ":":
                if line.next[:1] == "%":  # a print names its operands after a colon
                    continue
                self._signature(line, body)
            elif token == "->":  # of an operation without operands
                body.results = self._types(line)
            elif first == "^":
                body.successors.append(self._successor(line, token))
            elif token == "<{":
                line.at -= 1
                body.attributes |= self._attributes(line)
            elif token == "{":
                line.at -= 1
                if line.at == len(line.tokens) - 2:
                    return
                body.attributes |= self._attributes(line)
            elif first == '"':
                body.text = unquoted(token)
            elif first == "@":
                body.text = token[1:].strip('"')
            elif token == "(" and line.next == "{" and line.at == len(line.tokens) - 2:
                return
            elif token in (",", "(", ")", "[", "]") or token.startswith(("fastmath<", "overflow<")):
                continue
            elif first.isalpha() or first == "_":
                self._word(line, token, body)
            else:
                line.fail(f"{token!r} in an operation")

    def _word(self, line: _Line, token: str, body: _Body) -> None:
        if line.accept("="):
            body.attributes[token] = self._attribute(line)
        elif token == "cacheModifier" or token == "evictionPolicy":
            line.fail(f"{token} without a value")
        else:
            body.words.append((len(body.operands), token))

    def _successor(self, line: _Line, label: str) -> Successor:
        arguments: list[Value] = []
        if line.accept("("):
            while line.next[:1] == "%":
                arguments.append(self._use(line.take(), line))
                line.accept(",")
            if line.accept(":"):
                while not line.accept(")"):
                    self._type(line)
                    line.accept(",")
            else:
                line.expect(")")
        return Successor(label, arguments)

    def _signature(self, line: _Line, body: _Body) -> None:
        """Types after a colon; those after an arrow or ``to`` are of results."""
        while (token := line.next) and not token.startswith("loc(") and token != "{":
            if token in ("->", "to"):
                line.at += 1
                body.results = self._types(line)
                return
            if token in (",", "(", ")", "*"):
                line.at += 1
            else:
                body.types.append(self._type(line))

    def _types(self, line: _Line) -> list[Type]:
        """A type, or types in parentheses."""
        if not line.accept("("):
            return [self._type(line)]
        found: list[Type] = []
        while not line.accept(")"):
            found.append(self._type(line))
            if line.next == "{":
                self._attributes(line)
            line.accept(",")
        return found

    @staticmethod
    def _type(line: _Line) -> Type:
        token = line.take()
        if token[:1] == "<":  # a pointer or descriptor whose dialect goes without saying
            inside = token[1:-1]
            token = (
                f"!tt.tensordesc<{inside}>"
                if inside.startswith("tensor<") or inside[:1].isdigit()
                else f"!tt.ptr<{inside}>"
            )
        if token not in ELEMENTS and "<" not in token:
            line.fail(f"{token or 'the end of a line'!r} where a type should be")
        return parse_type(token, line.number)

    # ------------------------------------------------ attributes

    def _attributes(self, line: _Line) -> dict[str, Attribute]:
        """``{name = value, name}`` or the same in ``<{ }>``."""
        closing = "}>" if line.take() == "<{" else "}"
        found: dict[str, Attribute] = {}
        while not line.accept(closing):
            name = line.take()
            if name[:1] == '"':
                name = unquoted(name)
            found[name] = self._attribute(line) if line.accept("=") else None
            if not line.accept(",") and line.next != closing:
                line.fail(f"{line.next!r} in attributes")
        return found

    def _attribute(self, line: _Line) -> Attribute:
        token = line.take()
        first = token[:1]
        value: Attribute
        if first == '"':
            return unquoted(token)
        if token in ("true", "false"):
            return token == "true"
        if first.isdigit() or first == "-":
            value = float(token) if re.search(r"[.eE]", token) and not token.startswith("0x") else int(token, 0)
            if line.accept(":"):
                self._type(line)
            return value
        if token.startswith("array<"):
            return [int(n, 0) for n in token[6:-1].partition(":")[2].replace(",", " ").split()]
        if token == "[":
            listed: list[Attribute] = []
            while not line.accept("]"):
                listed.append(self._attribute(line))
                line.accept(",")
            return listed
        if token == "{":
            line.at -= 1
            return self._attributes(line)
        if not (first in ("#", "@", "!") or token.startswith("tensor<") or first.isalpha()):
            line.fail(f"{token or 'the end of a line'!r} where an attribute should be")
        if line.next[:1] == "<":  # what an alias or a word is applied to
            token += line.take()
            if line.accept(":"):
                self._type(line)
        return token

    # ------------------------------------------------ structured control flow

    def _closed(self, opened: int) -> _Line:
        """The line that ends a region, after its brace."""
        line = self._line()
        if not line.accept("}"):
            raise Unsupported(opened, "a region that does not end")
        return line

    def _end(self, line: _Line) -> Location:
        """The location that ends a line, where there is one, after attributes that are hints."""
        line.accept("}")
        while line.next == "{":
            for name in self._attributes(line):
                if "." not in name:
                    line.fail(f"the attribute {name}")
        location = Location()
        if line.next.startswith("loc("):
            location = self._locations.of(line.take()[4:-1])
        if line.next:
            line.fail(f"{line.next!r} after an operation")
        return location

    def _for(self, line: _Line, names: list[str]) -> Operation:
        """``%r = scf.for %i = %low to %high step %step iter_args(%a = %b) -> (types) : i32 {``."""
        words = [(0, "unsigned")] if line.accept("unsigned") else []
        index = line.take()
        line.expect("=")
        bounds = [self._use(line.take(), line)]
        for word in ("to", "step"):
            line.expect(word)
            bounds.append(self._use(line.take(), line))
        inner, outer = self._carried(line) if line.accept("iter_args") else ([], [])
        types = self._types(line) if line.accept("->") else []
        kind = (
            self._type(line)
            if line.accept(":")
            else Type(I32 if bounds[0].type.element == I32 else bounds[0].type.element)
        )
        line.expect("{")
        block = Block(
            "",
            [
                self._define(index, kind, line),
                *(self._define(n, v.type, line) for n, v in zip(inner, outer, strict=True)),
            ],
        )
        region = self._ended(self._region(block), line.number)
        location = self._end(self._closed(line.number))
        results = [self._define(n, t, line) for n, t in zip(names, types, strict=True)]
        return Operation("scf.for", bounds + outer, results, {}, words, [region], [], location, line.number)

    def _carried(self, line: _Line) -> tuple[list[str], list[Value]]:
        """``(%inner = %outer, ...)``."""
        inner, outer = [], []
        line.expect("(")
        while not line.accept(")"):
            inner.append(line.take())
            line.expect("=")
            outer.append(self._use(line.take(), line))
            line.accept(",")
        return inner, outer

    def _while(self, line: _Line, names: list[str]) -> Operation:
        """``%r = scf.while (%a = %b) : (types) -> types {`` … ``} do {`` … ``}``."""
        inner, outer = self._carried(line) if line.next == "(" else ([], [])
        line.expect(":")
        self._types(line)
        line.expect("->")
        types = self._types(line)
        line.expect("{")
        block = Block("", [self._define(n, v.type, line) for n, v in zip(inner, outer, strict=True)])
        before = self._region(block)
        middle = self._closed(line.number)
        middle.expect("do", "{")
        after = self._ended(self._region(Block("")), line.number)
        closing = self._closed(line.number)
        if closing.accept("attributes"):
            self._attributes(closing)
        location = self._end(closing)
        results = [self._define(n, t, line) for n, t in zip(names, types, strict=True)]
        return Operation("scf.while", outer, results, {}, [], [before, after], [], location, line.number)

    def _if(self, line: _Line, names: list[str]) -> Operation:
        """``%r = scf.if %c -> (types) {`` … ``} else {`` … ``}``."""
        condition = self._use(line.take(), line)
        types = self._types(line) if line.accept("->") else []
        line.expect("{")
        regions = [self._ended(self._region(Block("")), line.number)]
        closing = self._closed(line.number)
        if closing.accept("else"):
            closing.expect("{")
            regions.append(self._ended(self._region(Block("")), line.number))
            closing = self._closed(line.number)
        location = self._end(closing)
        results = [self._define(n, t, line) for n, t in zip(names, types, strict=True)]
        return Operation("scf.if", [condition], results, {}, [], regions, [], location, line.number)


def _symbol(line: _Line) -> str:
    found = _SYMBOL.match(line.take())
    if found is None:
        line.fail("a function without a name")
    return found[1].strip('"')
