"""`toolkeeper schema`: what may stand in a configuration?"""

from toolkeeper.cli.option import Json
from toolkeeper.cli.output import print_json


def schema(as_json: Json = True) -> None:
    """Print the configuration's JSON Schema, for editors."""
    from toolkeeper.runtime.configuration import json_schema

    print_json(json_schema())
