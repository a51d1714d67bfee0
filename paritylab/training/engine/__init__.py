"""The engine: one compiled program that takes thousands of runs through its lanes."""
