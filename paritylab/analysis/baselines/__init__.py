"""What learners that know the class need: lines beside learning times."""
