import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkeeper_planner import moved_names


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        ("abcd", "abcd", ""),
        ("abcd", "bcda", "a"),
        ("abcd", "dabc", "d"),
        ("abcd", "axbcyd", ""),
        ("abcd", "bd", ""),
        ("", "ab", ""),
        ("abcd", "dcba", "dcb"),
    ],
)
def test_the_fewest_names_moved(before: str, after: str, moved: str) -> None:
    found = moved_names(before, after)
    assert len(found) == len(moved)
    if len(moved) < 2:
        assert found == tuple(moved)


def test_where_two_would_do_the_one_that_changed_anyway_moved() -> None:
    assert moved_names("ab", "ba", rather="a") == ("a",)
    assert moved_names("ab", "ba", rather="b") == ("b",)
    assert moved_names("abc", "abc", rather="b") == ()
    assert moved_names("abcde", "abdec", rather="abcde") != ()


ORDERS = st.lists(st.sampled_from("abcdefgh"), unique=True)


@given(before=ORDERS, after=ORDERS, rather=st.sets(st.sampled_from("abcdefgh")))
def test_all_others_keep_their_order(before: list[str], after: list[str], rather: set[str]) -> None:
    moved = set(moved_names(before, after, rather=rather))
    common = set(before) & set(after)
    assert moved <= common
    left = common - moved
    assert [name for name in before if name in left] == [name for name in after if name in left]
    # None of those that moved could have stayed with the others.
    for name in moved:
        more = left | {name}
        assert [each for each in before if each in more] != [each for each in after if each in more]
