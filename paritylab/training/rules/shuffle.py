"""A fresh order of a finite sample in every epoch, without storing one."""

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Int, PRNGKeyArray

ROUNDS = 32


def shuffled(key: PRNGKeyArray, epoch: Int[Array, ""], place: Int[Array, ""], size: int) -> Int[Array, ""]:
    """The member of a sample of `size` that stands at `place` in the random order of this epoch.

    A random permutation evaluated at one place, by the swap-or-not shuffle (Hoang, Morris, Rogaway,
    CRYPTO 2012): in each round a place and its mirror image about a random centre are swapped, or
    not, by a coin that only the pair decides. Every round is a bijection, hence so is the whole.
    """
    if size == 1:
        return place
    words = jr.bits(jr.fold_in(key, epoch), (ROUNDS, 2), jnp.uint32)
    centres = (words[:, 0] % jnp.uint32(size)).astype(jnp.int32)

    def one(here: Int[Array, ""], word: tuple[Array, Array]) -> tuple[Int[Array, ""], None]:
        centre, salt = word
        # centre - here mod size, without leaving the range of int32
        mirror = jnp.where(centre >= here, centre - here, centre - here + size)
        coin = _mixed(jnp.maximum(here, mirror).astype(jnp.uint32) ^ salt) >> 31
        return jnp.where(coin == 1, mirror, here), None

    there, _ = jax.lax.scan(one, place, (centres, words[:, 1]), unroll=ROUNDS)
    # Written down before it is used: where it is fused with the look-up of a row, all rounds are done again for every
    # entry of the row, and LLVM's vectorizer follows each path through them, of which there are more than 2^32.
    return jax.lax.optimization_barrier(there)


def _mixed(word: Array) -> Array:
    """A bijective hash of 32 bits with full avalanche (the finalizer of MurmurHash3)."""
    word = (word ^ (word >> 16)) * jnp.uint32(0x85EBCA6B)
    word = (word ^ (word >> 13)) * jnp.uint32(0xC2B2AE35)
    return word ^ (word >> 16)
