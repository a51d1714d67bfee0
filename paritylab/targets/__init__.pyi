from .base import (
    AbstractRealTarget as AbstractRealTarget,
    AbstractTarget as AbstractTarget,
)
from .chains import (
    ParityChain as ParityChain,
    random_running_parity as random_running_parity,
    random_tree_parity as random_tree_parity,
    running_parity as running_parity,
    tree_parity as tree_parity,
)
from .circuits import (
    TreeCircuit as TreeCircuit,
    circuit_from_formula as circuit_from_formula,
    count_of_functions as count_of_functions,
    parity_circuit as parity_circuit,
    random_circuit as random_circuit,
    razborov_sherstov as razborov_sherstov,
)
from .gates import (
    GATES as GATES,
    GateProduct as GateProduct,
    as_inner_product as as_inner_product,
    inner_product_mod_two as inner_product_mod_two,
    random_gate_product as random_gate_product,
)
from .multitask import (
    MultitaskParity as MultitaskParity,
    random_multitask_parity as random_multitask_parity,
)
from .parity import (
    Parity as Parity,
    random_disjoint_parity as random_disjoint_parity,
    random_parity as random_parity,
)
from .polynomials import (
    Polynomial as Polynomial,
    PolynomialSign as PolynomialSign,
    leap_function as leap_function,
    permuted as permuted,
    random_polynomial as random_polynomial,
    random_staircase_sign as random_staircase_sign,
    staircase as staircase,
)
from .symmetric import (
    NearlySymmetric as NearlySymmetric,
    Symmetric as Symmetric,
    full_parity as full_parity,
    majority as majority,
    random_symmetric as random_symmetric,
)
