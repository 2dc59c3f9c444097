"""What holds for every test."""

from hypothesis import settings

# A machine that is busy is not a defect: how long an example takes is the benchmarks' business, never a test's.
settings.register_profile("faultspec", deadline=None)
settings.load_profile("faultspec")
