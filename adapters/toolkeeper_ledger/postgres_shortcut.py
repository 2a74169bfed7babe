"""Can these works be done in one message each, and what if nobody hears whether they were?

The messages of a group go out together. The server makes one transaction of them, which it commits
when it has come to the end of all.
"""

from collections.abc import Callable, Sequence
from typing import Any

import psycopg
from sqlalchemy import Connection, select

from toolkeeper_ledger.chain import Head
from toolkeeper_ledger.group import Together
from toolkeeper_ledger.history import lock, remember_head
from toolkeeper_ledger.postgres_calls import Message, done_before, message_of, plain
from toolkeeper_ledger.postgres_connection import driver_of, pipelined
from toolkeeper_ledger.postgres_text import BytesCursor, in_bytes
from toolkeeper_ledger.schema import sessions

Work = Callable[[Connection], Any]


class Shortcut:
    """Does works at once; `heads` is where their sessions were left."""

    def __init__(self) -> None:
        self.heads: dict[str, Head] = {}

    def messages(self, connection: Connection, works: Sequence[Work]) -> list[Message] | None:
        """One message for each of the works; None when any of them has to go step by step."""
        found = [plain(work) for work in works]
        those = [work for work in found if work is not None]
        if len(those) < len(found):
            return None
        ids = {work.row.session_id for work in those}
        heads = {name: self._head(connection, name) for name in ids}
        messages: list[Message] = []
        for work in those:
            head = heads[work.row.session_id]
            message = None if head is None else message_of(work, head)
            if message is None:
                return None
            heads[message.head.session_id] = message.head
            messages.append(message)
        return messages

    def send(self, connection: Connection, messages: Sequence[Message]) -> list[Any]:
        """Sends them and gives the works' answers. psycopg.Error when any of them failed.

        Then none was done, unless the connection is lost: in that case nobody knows.
        """
        driver = driver_of(connection)
        for message in messages:
            self.heads.pop(message.head.session_id, None)
        with pipelined(driver):
            try:
                # Everybody takes sessions in one order, so that no two groups wait for each other;
                # what belongs to one session stays as it came.
                for message in sorted(messages, key=_session):
                    values = in_bytes(message.values)
                    BytesCursor(driver).execute(message.text, values, prepare=True)
            except BaseException as error:
                # What the server refuses, it undoes with all of the pipeline. Of anything else the
                # end of the pipeline would commit what went out before.
                if not (isinstance(error, psycopg.Error) and error.sqlstate):
                    driver.close()
                raise
        for message in messages:
            self.heads[message.head.session_id] = message.head
        return [message.answer for message in messages]

    def _head(self, connection: Connection, session_id: str) -> Head | None:
        head = self.heads.get(session_id)
        if head is None:
            found = connection.execute(
                select(sessions.c.head_seq, sessions.c.head_hash).where(
                    sessions.c.session_id == session_id
                )
            ).first()
            if found is None:
                return None
            head = Head(session_id, *found)
            remember_head(self.heads, head)
        return head


def _session(message: Message) -> str:
    return message.head.session_id


def works_of(work: Work) -> Sequence[Work]:
    return work.works if isinstance(work, Together) else [work]


def once_more(work: Work) -> Work:
    """The same work, for when it may have been done already without anybody hearing of it.

    It holds the session before it looks: what is on its way to the server comes before that, or
    finds a head that has moved.
    """
    inner = plain(work)
    assert inner is not None

    def again(connection: Connection) -> Any:
        lock(connection, inner.row.session_id)
        return done_before(inner, connection) or work(connection)

    return again
