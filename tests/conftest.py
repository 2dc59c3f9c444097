"""The set-up of every test."""

import signal

from hypothesis import settings

from support.examples import SEARCH, STEADY

# A shell that starts the tests in the background leaves SIGINT ignored, and what they start would
# inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A machine that is busy is not a defect: how long an example takes is the benchmarks' business,
# never a test's.
settings.register_profile("search", deadline=None, max_examples=SEARCH)

# What `make test` says of a commit, it says again: the examples follow from the test. `make search`
# draws new ones.
settings.register_profile(
    "steady",
    settings.get_profile("search"),
    max_examples=STEADY,
    derandomize=True,
    database=None,
)
settings.load_profile("steady")
