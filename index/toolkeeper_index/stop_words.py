"""Which English words say nothing about what a tool does?"""

_TEXT = """
a about all also am an and any anyone anything are as at be because been being both but by can
cannot could d did do does doing don each either else etc every few for from further had has
have having he hello her here hers hey hi him his how i if in into is it its itself just kindly
let ll like m may maybe me might mine more most must my myself need needs no nor not now of off
oh ok okay on once one only onto or other our ours out over own please re really s same shall
she should so some somebody someone something such t than thank thanks that the their theirs
them then there these they this those through to too under until up upon us ve very via want
wants wanted was we well were what whatever when where whether which while who whom whose why
will wish with within without would yes you your yours yourself
"""

STOP_WORDS = frozenset(_TEXT.split())
"""Function words and the courtesies of requests; no verb or noun that could name an action."""
