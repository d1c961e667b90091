"""No modules of the worker import each other in a circle, wherever in a file the imports stand. Those for the type checker alone do not
count."""

import ast
import graphlib
import pathlib

import kbx

ROOT = pathlib.Path(kbx.__file__).parent


def module_names():
    """Every module by its dotted name, with its file; a package's is that of its ``__init__``."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path, modules):
    """The modules of ``modules`` that a file names in an import statement, inside functions and conditions too."""
    found, tree = set(), ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [s for s in tree.body if not (isinstance(s, ast.If) and ast.unparse(s.test) == "TYPE_CHECKING")]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in modules else node.module for name in inside}
    return found & modules.keys()


def test_no_modules_import_each_other_in_a_circle():
    modules = module_names()
    assert "kbx.oracle.server" in modules and "kbx.runner" in modules
    graph = {name: imported(path, modules) for name, path in modules.items()}
    assert "kbx.oracle.cuda" in graph["kbx.oracle.__main__"], "imports inside functions count"
    circle = None
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        circle = " -> ".join(error.args[1])
    assert circle is None
