"""HOW: losses, optimizers, rules, and the engine that trains thousands of networks at once."""

from .gates import (
    TrainedGates as TrainedGates,
    drift as drift,
    gate_history as gate_history,
    train_gates as train_gates,
)
from .layerwise import (
    LearnedCircuit as LearnedCircuit,
    follow as follow,
    learn_circuits as learn_circuits,
)
from .losses import (
    ChosenLoss as ChosenLoss,
    Confidence as Confidence,
    Hinge as Hinge,
    RegularizedHinge as RegularizedHinge,
    correlation as correlation,
    logistic as logistic,
    square_loss as square_loss,
)
from .optimizers import (
    Optimizer as Optimizer,
)
from .outcomes import (
    Outcome as Outcome,
)
from .patterns import (
    AbstractPatterns as AbstractPatterns,
    PackedPatterns as PackedPatterns,
    SamplePatterns as SamplePatterns,
    TreePatterns as TreePatterns,
)
from .plans import (
    Cell as Cell,
    Plan as Plan,
)
from .records import (
    AbstractRecord as AbstractRecord,
    ErrorsByPart as ErrorsByPart,
    FreshError as FreshError,
    FreshLoss as FreshLoss,
    LayerDrift as LayerDrift,
    Parameters as Parameters,
    Progress as Progress,
    SampleError as SampleError,
    Snapshot as Snapshot,
    TopAccuracy as TopAccuracy,
    Updates as Updates,
    ValidationError as ValidationError,
    Weights as Weights,
)
from .rules import (
    Training as Training,
)
from .runs import (
    Runs as Runs,
)
from .schedules import (
    FirstThen as FirstThen,
    LinearFall as LinearFall,
)
from .train import (
    plan as plan,
    train as train,
)
from .units import (
    TrainedUnits as TrainedUnits,
    train_units as train_units,
)
