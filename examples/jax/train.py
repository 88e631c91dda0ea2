"""Data-parallel training in JAX: one program over the devices of all processes, split by the compiler."""

import argparse
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def error(weights: jax.Array, inputs: jax.Array, wanted: jax.Array) -> jax.Array:
    return jnp.mean((inputs @ weights - wanted) ** 2)


@jax.jit
def train(weights: jax.Array, inputs: jax.Array, wanted: jax.Array) -> tuple[jax.Array, jax.Array]:
    loss, gradient = jax.value_and_grad(error)(weights, inputs, wanted)
    return weights - 0.1 * gradient, loss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch", type=int, default=64, help="per device")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("weights.npy"))
    options = parser.parse_args()

    # Rank, size and the first node come from Slurm's variables.
    jax.distributed.initialize()
    rank, processes, devices = jax.process_index(), jax.process_count(), jax.device_count()
    mesh = Mesh(np.array(jax.devices()), ("data",))
    split, whole = NamedSharding(mesh, PartitionSpec("data")), NamedSharding(mesh, PartitionSpec())
    line = np.random.default_rng(options.seed).normal(size=(64, 1)).astype(np.float32)
    dice = np.random.default_rng((options.seed, rank))
    weights = jax.device_put(np.zeros((64, 1), np.float32), whole)
    for step in range(1, options.steps + 1):
        own = dice.normal(size=(options.batch * jax.local_device_count(), 64)).astype(np.float32)
        inputs = jax.make_array_from_process_local_data(split, own)
        weights, loss = train(weights, inputs, jax.make_array_from_process_local_data(split, own @ line))
        if rank == 0 and (step % 20 == 0 or step == options.steps):
            kind = jax.devices()[0].platform
            print(
                f"step {step} of {processes} processes, {devices} devices ({kind}): loss {loss:.6f}",
                flush=True,
            )
    if rank == 0:
        partial = options.out.with_suffix(".partial")
        with partial.open("wb") as stream:
            np.save(stream, np.asarray(weights))
        partial.replace(options.out)
    jax.distributed.shutdown()


if __name__ == "__main__":
    main()
