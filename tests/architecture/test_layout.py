"""Rules of the house that no tool checks."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOTS = ["contract", "policy", "index", "planner", "pipeline", "adapters", "apps"]
FORBIDDEN_NAMES = {"utils", "helpers", "common", "base", "manager"}
MODULES = sorted(path for root in ROOTS for path in (ROOT / root).rglob("*.py"))
PACKAGES = sorted(
    path
    for root in ROOTS
    for path in (ROOT / root).iterdir()
    if path.is_dir() and path.name != "__pycache__"
)


def _id(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("package", PACKAGES, ids=_id)
def test_a_package_is_typed_and_named_after_the_product(package: Path) -> None:
    assert package.name.startswith("toolkeeper")
    assert (package / "py.typed").exists()


@pytest.mark.parametrize("module", MODULES, ids=_id)
def test_a_module_says_what_it_answers(module: Path) -> None:
    assert ast.get_docstring(ast.parse(module.read_text("utf-8")))


@pytest.mark.parametrize("module", MODULES, ids=_id)
def test_a_module_is_one_idea_long(module: Path) -> None:
    assert len(module.read_text("utf-8").splitlines()) <= 400


@pytest.mark.parametrize("module", MODULES, ids=_id)
def test_a_module_is_named_by_the_noun_it_holds(module: Path) -> None:
    parts = {part.removesuffix(".py") for part in module.relative_to(ROOT).parts}
    assert not parts & FORBIDDEN_NAMES


@pytest.mark.parametrize("package", [p for p in PACKAGES if p.name != "toolkeeper"], ids=_id)
def test_a_package_lists_its_public_face(package: Path) -> None:
    tree = ast.parse((package / "__init__.py").read_text("utf-8"))
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and node.module not in ("typing", "toolkeeper_contract.face")
        for alias in node.names
    }
    listed = next(
        (
            {element.value for element in node.value.elts if isinstance(element, ast.Constant)}
            for node in tree.body
            if isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id == "__all__"
            and isinstance(node.value, ast.List | ast.Tuple)
        ),
        set(),
    )
    assert imported == listed


def test_only_the_claim_stage_makes_a_claimed_call() -> None:
    makers = {
        _id(module)
        for module in MODULES
        for node in ast.walk(ast.parse(module.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Claimed"
    }
    assert makers == {"pipeline/toolkeeper_pipeline/claim.py"}


def test_the_spine_fits_on_one_screen() -> None:
    tree = ast.parse((ROOT / "pipeline/toolkeeper_pipeline/spine.py").read_text("utf-8"))
    govern = next(
        node
        for node in tree.body
        if isinstance(node, ast.AsyncFunctionDef) and node.name == "govern"
    )
    assert govern.end_lineno is not None
    assert govern.end_lineno - govern.lineno < 40


def test_no_file_of_the_project_names_the_machine_it_was_written_on() -> None:
    suffixes = {".py", ".md", ".toml", ".yaml", ".yml", ".json", ".txt", ""}
    traces = ["/work" + "/", "/root" + "/", "pypi" + ".org", "/tmp" + "/v/"]
    found = [
        (_id(path), trace)
        for folder in [*ROOTS, "tests", "adr", "docs", "examples", "bench"]
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix in suffixes and "world" not in path.parts
        for trace in traces
        if trace in path.read_text("utf-8", errors="ignore")
    ]
    assert found == []
