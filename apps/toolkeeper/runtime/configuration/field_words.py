"""What is said about a field, for editors and for who wrote something else there?

It stands as a text under the field. Pydantic would read it out of the source whenever the models
are made, in every command; it is read here when somebody is to be told.
"""

import ast
import inspect
from collections.abc import Mapping
from functools import cache
from itertools import pairwise

from pydantic import BaseModel


@cache
def field_words(model: type[BaseModel]) -> Mapping[str, str]:
    """The text under each field of `model`, by the field's name; none where there is no source."""
    try:
        source = inspect.getsource(model)
    except OSError:
        return {}
    (statement,) = ast.parse(source).body
    assert isinstance(statement, ast.ClassDef)
    return {
        field.target.id: inspect.cleandoc(below.value.value)
        for field, below in pairwise(statement.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }
