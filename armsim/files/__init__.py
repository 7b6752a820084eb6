"""Reading and writing of users' files: YAML and CSV in, run folders out."""
