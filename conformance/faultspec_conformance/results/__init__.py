"""The result of a run: verdicts, waivers, merging and coverage."""
