"""`toolkeeper schema`: what may stand in a configuration?"""

from toolkeeper.cli.output import print_json
from toolkeeper.runtime.configuration import json_schema


def schema() -> None:
    """Print the configuration's JSON Schema, for editors."""
    print_json(json_schema())
