from .call import (
    plan as plan,
    train as train,
)
from .perceptron import (
    streamed_perceptron as streamed_perceptron,
)
from .plans import (
    Cell as Cell,
    Decay as Decay,
    Plan as Plan,
    Recording as Recording,
    Seeds as Seeds,
)
from .rules.criteria import (
    AbstractCriterion as AbstractCriterion,
    ErrorAtMost as ErrorAtMost,
    LossBelow as LossBelow,
)
from .rules.fourier_records import (
    NeuronFourier as NeuronFourier,
    OutputFourier as OutputFourier,
    SupportFourier as SupportFourier,
)
from .rules.gradient_descent import (
    GradientDescent as GradientDescent,
)
from .rules.losses import (
    ChainLoss as ChainLoss,
    ChosenLoss as ChosenLoss,
    Confidence as Confidence,
    Hinge as Hinge,
    RegularizedHinge as RegularizedHinge,
    correlation as correlation,
    logistic as logistic,
    ramp as ramp,
    soft_logistic as soft_logistic,
    square_loss as square_loss,
)
from .rules.optimizers import (
    Optimizer as Optimizer,
    SignDescent as SignDescent,
)
from .rules.outcomes import (
    Outcome as Outcome,
)
from .rules.part_records import (
    CurriculumPhase as CurriculumPhase,
    ErrorsOn as ErrorsOn,
    OutputErrors as OutputErrors,
    OutputLosses as OutputLosses,
)
from .rules.pruning_records import (
    PrunedErrors as PrunedErrors,
    UnitNorms as UnitNorms,
)
from .rules.records import (
    AbstractRecord as AbstractRecord,
    ClassBits as ClassBits,
    ErrorsByPart as ErrorsByPart,
    FreshError as FreshError,
    FreshLoss as FreshLoss,
    LayerDrift as LayerDrift,
    Neurons as Neurons,
    Parameters as Parameters,
    Progress as Progress,
    SampleError as SampleError,
    Snapshot as Snapshot,
    TopAccuracy as TopAccuracy,
    Updates as Updates,
    ValidationError as ValidationError,
    Weights as Weights,
)
from .rules.schedules import (
    FirstThen as FirstThen,
    LinearFall as LinearFall,
)
from .runs import (
    Runs as Runs,
)
from .saved import (
    load as load,
)
from .teachers import (
    Taught as Taught,
)
