from .watching import watch as watch
