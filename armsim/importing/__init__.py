"""Robot descriptions of other programs, as the content of a robot file."""
