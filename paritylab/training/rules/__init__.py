"""The rule of a run: losses, optimizers, schedules, what is recorded, and how one step is taken."""
