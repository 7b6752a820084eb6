"""Running a scenario: from its file to its result, and the files that a run leaves."""
