"""What an arm answers: for one state as plain data, or on arrays."""
