from .base import (
    AbstractDistribution as AbstractDistribution,
)
from .chains import (
    RandomChain as RandomChain,
    WithChain as WithChain,
    teacher_forcing as teacher_forcing,
)
from .curriculum import (
    Curriculum as Curriculum,
    Phase as Phase,
)
from .data_sets import (
    Images as Images,
)
from .digits import (
    Digits as Digits,
    mnist as mnist,
    pooled as pooled,
    small_digits as small_digits,
)
from .gate_halves import (
    EasyHalf as EasyHalf,
    balanced_gates as balanced_gates,
    equal_gates as equal_gates,
    independent_gates as independent_gates,
    leave_one_out as leave_one_out,
    noisy_equal as noisy_equal,
    random_subset as random_subset,
    separation as separation,
    sparse_pairs as sparse_pairs,
    stealth as stealth,
)
from .gate_outputs import (
    AbstractOutputs as AbstractOutputs,
    IndependentOutputs as IndependentOutputs,
    OutputMoments as OutputMoments,
    RandomSubset as RandomSubset,
    SharedSign as SharedSign,
)
from .generative import (
    Generative as Generative,
)
from .images import (
    RandomPatches as RandomPatches,
    cifar10 as cifar10,
    image_folder as image_folder,
    made_up_images as made_up_images,
)
from .inputs import (
    Product as Product,
    Uniform as Uniform,
)
from .leaky_parity import (
    EqualBits as EqualBits,
    RandomLeaky as RandomLeaky,
    leaky as leaky,
)
from .parts import (
    PartOfCube as PartOfCube,
    seen as seen,
    unseen as unseen,
)
from .points import (
    Points as Points,
    draw as draw,
    population as population,
)
from .random import (
    Inputs as Inputs,
    RandomProduct as RandomProduct,
    RandomTask as RandomTask,
    RandomTaskOn as RandomTaskOn,
)
from .samples import (
    Stratified as Stratified,
)
from .strips import (
    Strips as Strips,
    digit_strips as digit_strips,
)
from .tasks import (
    WeightedTasks as WeightedTasks,
    zipf_tasks as zipf_tasks,
)
from .wrappers import (
    Encoded as Encoded,
    FlippedLabels as FlippedLabels,
    HeldOut as HeldOut,
    Mixture as Mixture,
    ShiftedInputs as ShiftedInputs,
)
