"""Fused kernels on a CPU: their CUDA source, compiled by a C++ compiler, a fiber for each thread."""

import ctypes
import hashlib
import re
import shutil
import subprocess
import threading
from pathlib import Path

from paritylab.training.fused.kernels import Kernel
from paritylab.training.fused.launching import AbstractBackend

COMPILER = shutil.which("g++") or shutil.which("c++")
HERE = Path(__file__).parent
PRODUCT = "multiply_add(float (&sum)[4], const u32 (&left)[4], Factor right)"
STAND_INS = {
    "extern __shared__ __align__(16) unsigned char bytes[];": "unsigned char *bytes = emulated_shared;",
    f"__device__ void {PRODUCT};": f"static void {PRODUCT} {{ emulated_multiply_add(sum, left, right); }}",
}
"""What C++ has no word for."""


class Emulator(AbstractBackend):
    """A backend for the platform "cpu"; kernels run where XLA calls them, one block after the other."""

    call_platform = "cpu"

    def __init__(self, folder: Path):
        self.folder, self.launches = folder, 0
        self._kernels: dict[int, tuple[ctypes.CDLL, Kernel, int]] = {}
        self._lock = threading.Lock()

    def prepare(self, number: int, source: str, kernel: Kernel, blocks: int) -> None:
        if number not in self._kernels:
            self._kernels[number] = self._compiled(source, kernel), kernel, blocks

    def _compiled(self, source: str, kernel: Kernel) -> ctypes.CDLL:
        emulated = source
        for there, here in STAND_INS.items():
            emulated = emulated.replace(there, here)
        names = [each.name for each in kernel.parameters]
        passed = ", ".join(f"({each.type})at[{i}]" for i, each in enumerate(kernel.parameters))
        entry = f"""
static void **at;  // {", ".join(names)}
extern "C" void launch(void **buffers, int blocks, int threads, int shared) {{
  at = buffers;
  emulated_shared = (unsigned char *)aligned_alloc(64, (shared / 64 + 1) * 64);
  for (blockIdx.x = 0; blockIdx.x < (unsigned)blocks; ++blockIdx.x) {{
    memset(emulated_shared, 0xff, shared);  // what nobody wrote is not a number
    emulation::run_block(threads, [] {{ train({passed}); }});
  }}
  free(emulated_shared);
}}
"""
        return self.library(emulated + entry)

    def library(self, code: str) -> ctypes.CDLL:
        """CUDA source, compiled for this machine."""
        text = f'#include "{HERE / "emulated.h"}"\n' + re.sub(r"#pragma unroll.*", "", code)
        name = hashlib.sha256(text.encode() + (HERE / "emulated.h").read_bytes()).hexdigest()[:24]
        library, source = self.folder / f"{name}.so", self.folder / f"{name}.cpp"
        if not library.exists():
            source.write_text(text)
            flags = ["-std=c++17", "-O1", "-shared", "-fPIC", "-w"]
            assert COMPILER is not None
            subprocess.run([COMPILER, *flags, "-o", str(library), str(source)], check=True)
        return ctypes.CDLL(str(library))

    def launch(self, buffers: list[int], stream: int | None) -> None:
        *buffers, named_at = buffers
        library, kernel, blocks = self._kernels[ctypes.c_uint64.from_address(named_at).value]
        with self._lock:  # fibers and shared memory are those of one block
            self.launches += 1
            library.launch((ctypes.c_void_p * len(buffers))(*buffers), blocks, kernel.block, kernel.shared_bytes)
