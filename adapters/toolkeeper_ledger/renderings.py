"""How are the request parts that a turn shows kept, once for all turns that show the same?"""

from sqlalchemy import Connection, bindparam, insert, select

from toolkeeper_contract import RunRecord, digest_bytes
from toolkeeper_ledger.fault import Fault, conflict, unavailable
from toolkeeper_ledger.schema import renderings

_BODY = select(renderings.c.body).where(renderings.c.digest == bindparam("wanted"))


def is_new_rendering(run: RunRecord, text: str | None, *, known: bool) -> bool:
    """Whether `text` has to be stored for the run; `known` says that its digest is there.

    RunError(ledger.conflict) when the text is not what the run names, or when a run names one
    that neither it nor an earlier one has brought.
    """
    if text is not None and (
        run.rendering is None or digest_bytes(text.encode("utf-8")) != run.rendering
    ):
        raise conflict(f"run `{run.run_id}` names another rendering than the one it brings")
    if run.rendering is None or known:
        return False
    if text is None:
        raise conflict(
            f"the rendering that run `{run.run_id}` names is not in the ledger",
            "bring its text with the run",
        )
    return True


def keep_rendering(connection: Connection, run: RunRecord, text: str | None) -> None:
    """Writes the run's rendering if no run has brought it before."""
    known = connection.execute(_BODY, {"wanted": run.rendering}).first() is not None
    if is_new_rendering(run, text, known=known):
        connection.execute(insert(renderings), {"digest": run.rendering, "body": text})


def find_rendering(connection: Connection, digest: str) -> str | None:
    """The text; RunError(ledger.unavailable) when it is not what its digest says any more."""
    body = connection.execute(_BODY, {"wanted": digest}).scalars().first()
    if body is None:
        return None
    # The model would see it as the tools that it has: a changed one must not be shown.
    if digest_bytes(body.encode("utf-8")) != digest:
        raise unavailable(
            Fault("a rendering was changed after it was stored", "restore the store from a backup")
        )
    return str(body)
