"""What a program imports from `toolkeeper` is there, and costs no more than it needs."""

import subprocess
import sys

import pytest

import toolkeeper
import toolkeeper.runtime


@pytest.mark.parametrize("package", [toolkeeper, toolkeeper.runtime])
def test_every_name_that_is_promised_is_there(package: object) -> None:
    names = package.__all__  # type: ignore[attr-defined]
    assert set(names) <= set(dir(package))
    assert [name for name in names if getattr(package, name, None) is None] == []


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute `kept`"):
        toolkeeper.kept  # noqa: B018


@pytest.mark.parametrize("name", ["verify_signature", "NotSigned"])
def test_a_receiver_of_webhooks_loads_no_store_and_no_sources(name: str) -> None:
    code = (
        f"import sys; from toolkeeper import {name}; "
        "print(*sorted({'sqlalchemy', 'mcp', 'toolkeeper.runtime'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")
