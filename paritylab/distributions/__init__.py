"""ON WHICH inputs: laws of a point and its label."""

from .base import AbstractDistribution as AbstractDistribution
from .changes import (
    Encoded as Encoded,
    FlippedLabels as FlippedLabels,
    Mixture as Mixture,
    ShiftedInputs as ShiftedInputs,
)
from .inputs import Product as Product, Uniform as Uniform
from .points import Points as Points, draw as draw
from .random import RandomTask as RandomTask
