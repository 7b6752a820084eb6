"""What an arm's motion tells of its numbers: estimates from motions or logs, how sure they are, motions that tell more."""
