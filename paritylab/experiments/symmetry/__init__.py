"""On Symmetry and Initialization for Neural Networks (Nachum and Yehudayoff, 2019)."""
