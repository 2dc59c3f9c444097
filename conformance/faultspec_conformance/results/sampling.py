"""Samples of records: which belong to one, and what it says of all that none of them breaks."""

from zlib import crc32

_CONFIDENCE = 0.95

_RANGE = 2**32
"""The numbers of CRC-32."""


def is_sampled(place: str, share: float) -> bool:
    """Whether the record at a place is in a sample of this share of all. A place is always in the
    same samples, and in each that is larger.
    """
    return share >= 1 or crc32(place.encode("utf-8", "surrogatepass")) < share * _RANGE


def largest_share(checked: int) -> float:
    """The largest share of all that may be broken, with 95 % confidence, if none of so many that
    were drawn at random is: the share of which a sample has none with the chance of 5 %.
    """
    return 1.0 if checked == 0 else float(1 - (1 - _CONFIDENCE) ** (1 / checked))


def percent(share: float) -> str:
    """A share in per cent with two digits, such as `0.025 %`."""
    return f"{share * 100:.2g} %" if share < 1 else "100 %"
