"""What an arm's motion tells of its parameters: estimates, how sure they are, and motions that tell more."""
