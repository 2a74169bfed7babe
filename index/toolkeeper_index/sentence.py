"""What is the first sentence of a description?"""

import re

from toolkeeper_index.cleaning import clean, clean_line
from toolkeeper_index.definition_text import cut

SENTENCE_CAP = 200
"""Characters of a description that an index line shows at most."""

# No first sentence is looked for beyond this: descriptions of megabytes exist.
_WINDOW = 2_048

_PARAGRAPH = re.compile(
    r"\n[ \t]*\n"  # a blank line
    r"|\n[ \t]*(?:[-*+#>•]|\d+[.)]|```|---)"  # a list, a heading, a code block
    r"|\n[ \t]*(?:Args|Arguments|Parameters|Params|Returns?|Raises|Examples?|Notes?|Usage)\b[ \t]*:"
)
_HEADING = re.compile(
    r"(?:#{1,6}[ \t][^\n]*\n\s*|[^\n:]{1,40}:[ \t]*\n\s*(?:\d+[.)]|[-*+])[ \t]+)+(?=[^\s#])"
)
_MARKS = re.compile(r"^(?:[#>*\-=`~_•]+\s*)+")
# The full-width marks and closing quotes are written as escapes: they look like the ASCII ones.
_END = re.compile(
    "[.!?\u2026]+[\"'\u201d\u2019)\\]]*(?=\\s)"
    "|[\u3002\uff01\uff1f\uff61\u0964\u06d4]+[\u300d\u300f\u201d\u2019\uff09]*"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[])(?:e\.g|i\.e|eg|ie|etc|vs|cf|approx|incl|excl|no|nr|max|min|mr|mrs|ms|dr|prof|st"
    r"|inc|ltd|co|corp|fig|sec|ch|vol|resp|ca|esp|[a-z]|(?:[a-z]\.)+[a-z])\.$",
    re.IGNORECASE,
)


def first_sentence(text: str, cap: int = SENTENCE_CAP) -> str:
    """The first sentence of `text`, cleaned, on one line, at most `cap` characters.

    Empty when there are no words. A paragraph, a list, a heading or a section such as `Args:`
    ends a sentence too; abbreviations and lower-case continuations do not.
    """
    cleaned = clean(text[:_WINDOW]).strip()
    if heading := _HEADING.match(cleaned):
        # A heading or a label (`Purpose:`) says less than what follows it.
        cleaned = cleaned[heading.end() :]
    paragraph = _PARAGRAPH.split(cleaned, maxsplit=1)[0] or cleaned
    line = _MARKS.sub("", clean_line(paragraph))
    if not line:
        line = clean_line(cleaned)
    sentence = line[: _end(line)]
    return sentence if len(sentence) <= cap else cut(sentence, cap)


def _end(line: str) -> int:
    for match in _END.finditer(line):
        if match.group()[0] not in ".\u2026":
            return match.end()
        following = line[match.end() :].lstrip()[:1]
        if following.islower() or _ABBREVIATION.search(line[: match.end()]):
            continue
        return match.end()
    return len(line)
