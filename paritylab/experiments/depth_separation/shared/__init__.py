"""What the experiments of depth-separation share; none of it is an experiment."""
