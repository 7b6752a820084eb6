"""What a step does to small motions, before a run and after one that diverged."""
