"""Fused kernels: CUDA source in this package, specialized by the shape of a run.

A kernel is one function of the lanes' buffers. Everything that is no number of a run is a macro in front of
its source, so that loops have fixed ends and weights have registers.
"""

import dataclasses
import functools
import hashlib
import math
import re
from importlib import resources
from typing import Literal, NamedTuple

VERSION = 4
"""Raised when a kernel gives other numbers: it is part of the names of the runs that kernels train."""

Layout = Literal["units", "tiles"]
Family = Literal["mlp", "neuron", "polynet"]

PLAIN = ("relu", "relu6", "sigmoid", "square", "gelu")
ACTIVATIONS = (*PLAIN, "Power", "TriangleWave", "Zigzag", "OscillatingPolynomial", "Sinusoid", "identity")
"""By their numbers in `functions.cuh`."""
LOSSES = ("Hinge", "square_loss", "logistic", "correlation", "ChosenLoss")
WITNESSES = 16
WEIGHTS_IN_REGISTERS = 128
"""Weights that a thread holds at the most, unless one unit has more."""
RESIDENT_THREADS = 384
"""Threads of a multiprocessor that are worth fewer registers, where runs are small."""
GROUP = 32
"""Examples that tensor cores take together: the places of a word."""
CHUNK = 2
"""Groups of a chunk, where there are more: a word says of each sum of a tile whether it is above 0."""
MANY_INPUTS, MOST_INPUTS, MOST_UNITS = 64, 160, 1024
"""Of networks on tensor cores. With many inputs a warp has registers for the weights of one tile of units only."""
MOST_WARPS = 16
"""That share a run; half as many where all of a wide network's numbers fit into the registers of so few."""
OWN_GROUPS = 2
"""Up to so many groups every warp computes all slopes by itself, so that warps wait for each other once a step."""
SUMS_BYTES = 32 * 2**10
"""Of the sums of all warps that are kept at a time."""
MOST_SHARED = 227 * 2**10
"""Bytes of shared memory that a block can ask for on the GPUs that have the most of it."""
LARGEST_BLOCK, MOST_SHARING = 1024, 128
"""Threads of a block, and those that share the examples of a run."""
WARP = 32
EXAMPLES_OF_A_THREAD = 32
"""Of a step, where the threads of a run share them: with fewer, adding up what they found would cost more. A quarter of
it where a batch has four times as many, since one run's step would take long."""
WHOLE_WEIGHTS = 96
"""Of a network of two layers that is held whole by each thread, if its batch is large: tensor cores would take its few
units for 16."""
BLOCK_OPERATIONS, SHORTEST_BLOCK, LONGEST_BLOCK = 2e11, 20, 1000
"""What all runs do in a block, and the steps of a block. A run that seems to have ended waits for its end."""
MOST_POINTS, FEW_POINTS = 2**15, 512
CROWD_BYTES = 32 * 2**10
"""Of weights that are laid open to all threads of a warp or a block while they validate one run together."""
STATIC_SHARED = 48 * 2**10
"""Bytes of shared memory that a block has without asking."""


class Parameter(NamedTuple):
    """An argument of a kernel."""

    type: str
    name: str
    changed: bool = False
    """Whether the kernel writes to it: then XLA gets the buffer back as a result."""


class Face(NamedTuple):
    """What compiled programs know of a kernel: any of the same face can take its place."""

    family: Family
    n: int
    parity: bool
    terms: int
    uniform: bool
    points: int
    """Validation points that are tried after the witnesses."""

    @property
    def arrays(self) -> tuple[str, ...]:
        """The trained arrays, in the network's order."""
        return ("weight", "bias", "output", "constant") if self.family == "mlp" else ("weight", "bias")

    @property
    def words(self) -> int:
        """Of 32 coordinates, in a point."""
        return -(-self.n // 32)


@dataclasses.dataclass(frozen=True)
class Kernel:
    """All that is compiled. Kernels that are equal have one source."""

    family: Family
    n: int
    units: int
    batch: int
    activation: int
    scale: float
    of_degree: bool
    """Whether the activation has a degree, an array of the network."""
    loss: int
    parity: bool
    """Whether the target is a parity, given by its mask."""
    terms: int
    """Of the polynomial whose sign the target is, each given by a mask and a coefficient; with none, and no parity, the
    target is symmetric, given by its values."""
    uniform: bool
    """Whether inputs are fair signs; else product with a mean for each coordinate."""
    noisy: bool
    decay: bool
    shared_points: int
    """Points of the validation batch, where all runs have the same."""
    checked: bool

    @property
    def layout(self) -> Layout:
        """Tensor cores from 16 examples on: fewer would leave most of their columns empty."""
        few = self.units <= (MOST_UNITS if self.n <= MANY_INPUTS else 16 * MOST_WARPS)
        return "tiles" if not self.whole and self.batch >= 16 and self.n <= MOST_INPUTS and few else "units"

    @property
    def whole(self) -> bool:
        """Whether each thread of a run holds the network whole and takes a share of the examples."""
        return self.family != "mlp" or (self.batch >= 16 and self.units * self.n <= WHOLE_WEIGHTS)

    @property
    def face(self) -> Face:
        return Face(self.family, self.n, self.parity, self.terms, self.uniform, self.points)

    @property
    def arrays(self) -> tuple[str, ...]:
        return self.face.arrays

    @property
    def words(self) -> int:
        return -(-self.n // 32)

    @property
    def threads(self) -> int:
        """How many threads share a run."""
        if self.layout == "tiles":
            return WARP * self.warps
        if self.whole:
            each = EXAMPLES_OF_A_THREAD // (4 if self.batch >= 4 * EXAMPLES_OF_A_THREAD else 1)
            return min(MOST_SHARING, 2 ** max(0, (self.batch // each).bit_length() - 1))
        most = max(1, WEIGHTS_IN_REGISTERS // self.n, -(-self.units // LARGEST_BLOCK))
        return -(-self.units // max(range(1, most + 1), key=lambda per: (self._busy(per), per)))

    def _busy(self, per: int) -> float:
        """The share of the places of a warp that hold a unit, if each thread has `per` of them."""
        threads = -(-self.units // per)
        lanes = WARP // threads * threads / WARP if threads <= WARP else threads / (-(-threads // WARP) * WARP)
        return lanes * self.units / (threads * per)

    @property
    def warps(self) -> int:
        """How many warps share a run's tiles of 16 units."""
        most = MOST_WARPS // 2 if self.signed and self.n <= 32 else MOST_WARPS
        return min(most, -(-self._tiles // (2 if self.n <= MANY_INPUTS else 1)))

    @property
    def _tiles(self) -> int:
        return -(-self.units // 16)

    @property
    def _chunk(self) -> int:
        """The groups of a chunk."""
        return min(CHUNK, -(-self.batch // GROUP))

    @property
    def _chunks(self) -> int:
        """Of a step."""
        return -(-self.batch // (GROUP * self._chunk))

    @property
    def _own_slopes(self) -> bool:
        """Whether every warp computes the slopes of all examples by itself."""
        return self.warps == 1 or self._chunks * self._chunk <= OWN_GROUPS

    @property
    def _portion(self) -> int:
        """The chunks whose sums are kept at a time."""
        return self._chunks if self._own_slopes else max(1, SUMS_BYTES // (self._rows * 4 * GROUP * self._chunk))

    @property
    def _pair(self) -> int:
        """Tiles that share the factors that are made of inputs, as registers allow."""
        return min(self._tiles_of_a_warp, 2 if self.n <= 32 or self._tiles_of_a_warp == 2 else 1)

    @property
    def _rows(self) -> int:
        """Of sums: one for each warp and each pass over its tiles."""
        return self.warps * -(-self._tiles_of_a_warp // self._pair)

    @property
    def signed(self) -> bool:
        """Whether gradients are counts: what an example adds is its input times a sign or 0, and an output weight."""
        return ACTIVATIONS[self.activation] == "relu" and LOSSES[self.loss] in ("Hinge", "correlation")

    @property
    def block(self) -> int:
        """Threads of a block: those of a run in whole warps. A warp with a long validation holds up no other run."""
        return -(-self.threads // WARP) * WARP

    @property
    def runs(self) -> int:
        """Runs of a block."""
        if self.threads > WARP:
            return 1
        return WARP // self.threads

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return (
            *(Parameter("float *", name, changed=True) for name in self.arrays),
            Parameter("int *", "step_count", changed=True),
            Parameter("int *", "outcome", changed=True),
            Parameter("u32 *", "witnesses", changed=True),
            Parameter("float *", "witness_labels", changed=True),
            Parameter("const int *", "limit"),
            Parameter("const bool *", "taken"),
            Parameter("const u32 *", "key"),
            Parameter("const float *", "numbers"),
            Parameter(f"const {self._target_type} *", "target"),
            Parameter("const float *", "up"),
            Parameter("const u32 *", "points"),
            *((Parameter("const int *", "degree"),) if self.of_degree else ()),
        )

    def source(self, lanes: int, rounds: int, every: int) -> str:
        """The CUDA source of a block of rounds."""
        arrays, macros = len(self.arrays), self._macros(lanes, rounds, every)
        signature = ", ".join(f"{each.type}{each.name}" for each in self.parameters)
        lines = [f"#define {name} {value}" for name, value in macros.items()]
        lines += [f"#define PARAMETERS {signature}", f"#define ARRAYS {arrays}", f"#define NUMBERS {2 * arrays + 3}"]
        lines.append(f"#define DEGREE(at) {'degree[at]' if self.of_degree else '0'}")
        return "\n".join(lines) + "\n" + _with_includes(f"{self.layout}.cu")

    def _macros(self, lanes: int, rounds: int, every: int) -> dict[str, object]:
        common = {
            "LANES": lanes,
            "ROUNDS": rounds,
            "EVERY": every,
            "N": self.n,
            "UNITS": self.units,
            "BATCH": self.batch,
            "MLP": int(self.family == "mlp"),
            "ACTIVATION": self.activation,
            "SCALE": f"{self.scale!r}f",
            "LOSS": self.loss,
            "PARITY": int(self.parity),
            "TERMS": self.terms,
            "TARGET_TYPE": self._target_type,
            "TARGET_SIZE": self.words if self.parity else self.terms * (self.words + 1) or self.n + 1,
            "UNIFORM_INPUTS": int(self.uniform),
            "UP_SIZE": 0 if self.uniform else self.n,
            "NOISY": int(self.noisy),
            "DECAY": int(self.decay),
            "POINTS": self.points,
            "CHECKED": int(self.checked),
            "BLOCK": self.block,
            "RESIDENT": max(1, RESIDENT_THREADS // self.block) if self._crowded else 1,
        }
        if self.layout == "units":
            crowd = self.points > 0 and self._staged <= CROWD_BYTES
            return {**common, "WHOLE": int(self.whole), "THREADS": self.threads, "CROWD": int(crowd)}
        return {
            **common,
            "SIGNED": int(self.signed),
            "SHARED_BYTES": self.shared_bytes,
            "CHUNK": self._chunk,
            "CHUNKS": self._chunks,
            "PORTION_CHUNKS": self._portion,
            "OWN_SLOPES": int(self._own_slopes),
            "WARPS": self.warps,
            "TILES": self._tiles_of_a_warp,
            "PAIR": self._pair,
        }

    @property
    def _target_type(self) -> str:
        return "u32" if self.parity or self.terms else "float"

    @property
    def _tiles_of_a_warp(self) -> int:
        return math.ceil(self._tiles / self.warps)

    @property
    def _crowded(self) -> bool:
        """Whether more runs on a multiprocessor are worth fewer registers for each."""
        if self.layout == "units":
            return self.batch == 1
        return self.signed and self.n <= 32 and self.warps <= 4

    @property
    def points(self) -> int:
        """Validation points that are tried after the witnesses: all of them where they are tried side by side."""
        together = self.layout == "tiles" or self._staged <= CROWD_BYTES
        return min(self.shared_points, MOST_POINTS if together else FEW_POINTS)

    @property
    def _staged(self) -> int:
        """Bytes of the weights of the run that a block looks at together."""
        tiles = -(-self.units // 16)
        return 1024 * tiles * -(-self.n // 16) + 128 * tiles + 256 * (self.block // WARP) + 16

    @property
    def lanes(self) -> int:
        """How many runs train side by side at the most: enough for several waves of blocks on a large GPU."""
        weights = self.n * self.units
        return 2**16 if weights <= 1024 else 2**14 if weights <= 8192 else 2**12

    def lanes_of(self, runs: int, recorded: bool = False) -> int:
        """The lanes of a job of so many runs: XLA's program around the kernel moves the weights of all lanes.

        Jobs of one shape should share that program, so there are five sizes. Where something is recorded of every lane,
        which costs more than to compile, there are no more than that. What a run gives depends on none of this.
        """
        return min(self.lanes, max(1 if recorded else self.lanes // 16, 2 ** (runs - 1).bit_length()))

    def rounds_of_block(self, runs: int, every: int) -> int:
        """How many rounds of so many runs a launch takes: some milliseconds, so that the host is not felt."""
        operations = 6 * self.n * self.units * self.batch
        steps = min(max(BLOCK_OPERATIONS / (runs * operations), SHORTEST_BLOCK), LONGEST_BLOCK)
        return max(1, int(steps) // every)

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a block that is asked for at its launch; `units` declares its own."""
        if self.layout == "units":
            return 0
        groups, warps, own = self._chunks * self._chunk, self.warps, self._own_slopes
        slopes = (warps if own else 1) * groups * GROUP * (2 if self.signed else 4)
        units = 8 * 16 * warps * self._tiles_of_a_warp
        turns = 2 if own and warps > 1 else 1
        sums = 4 * (self._rows * GROUP * (turns * self._portion * self._chunk + 1) + warps)
        kept = 4 * self._tiles_of_a_warp * self._chunks * warps * WARP if self.signed and self._chunks > 1 else 0
        laid = (1 if warps == 1 else 3 if own else 2) * 4 * groups * (2 * self.words * GROUP + 1)
        tried = 4 * (self.words * GROUP + WITNESSES * self.words + 1)
        run = slopes + units + sums + kept + 4 * self._drawn_words + laid + tried
        return -(-run // 16) * 16

    @property
    def _drawn_words(self) -> int:
        """As `Shared.words` of `tiles.cu`."""
        inputs = -(-self.batch * self.n // 32) if self.uniform else self.batch * self.words
        items = inputs + (-(-self.batch // 32) if self.noisy else 0)
        return (1 if items >= self.threads else min(10, self.threads // items)) * items + 1


@functools.cache
def _with_includes(name: str) -> str:
    """A source of this package with the files that it includes written out: one text is compiled."""
    text = (resources.files(__package__) / "cuda" / name).read_text()
    return re.sub(r'#include "(.*)"', lambda found: _with_includes(found[1]), text)


def number_of(source: str) -> int:
    """63 bits that name a source in compiled programs."""
    return int.from_bytes(hashlib.sha256(source.encode()).digest()[:8]) >> 1
