"""The codes that a program raises, found in its source. The program is never run or imported."""
