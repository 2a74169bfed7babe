"""What do the engines of a store say in SQLAlchemy's log?

Statements, but neither parameters nor rows, whatever level somebody sets: the program's own engines
are not touched, since ours log under a name of their own.
"""

from typing import Any, Final

from toolkeeper_pipeline.library_log import withhold

_NAME = "toolkeeper"

OPTIONS: Final[dict[str, Any]] = {
    "hide_parameters": True,
    "logging_name": _NAME,
    "pool_logging_name": _NAME,
}
"""For every `create_engine` of a store."""

withhold(
    f"sqlalchemy.engine.Engine.{_NAME}",
    f"sqlalchemy.pool.impl.NullPool.{_NAME}",
    f"sqlalchemy.pool.impl.QueuePool.{_NAME}",
    f"sqlalchemy.pool.impl.StaticPool.{_NAME}",
    "psycopg",
)
