"""Data-parallel training in TensorFlow: MultiWorkerMirroredStrategy with one worker per GPU."""

import argparse
import os
from pathlib import Path

import tensorflow as tf


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=64, help="per worker")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoint"))
    options = parser.parse_args()

    tasks, rank = int(os.environ["SLURM_NTASKS"]), int(os.environ["SLURM_PROCID"])
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[int(os.environ["SLURM_LOCALID"]) % len(gpus)], "GPU")
    nodes = int(os.environ["SLURM_NNODES"])
    base = 10000 + int(os.environ["SLURM_JOB_ID"]) % 20000
    cluster = tf.distribute.cluster_resolver.SlurmClusterResolver(
        jobs={"worker": tasks},
        port_base=base,
        gpus_per_node=tasks // nodes,
        gpus_per_task=1,
        tasks_per_node=tasks // nodes,
        auto_set_gpu=False,
    )
    ways = tf.distribute.experimental.CommunicationImplementation
    communication = tf.distribute.experimental.CommunicationOptions(
        implementation=ways.NCCL if gpus else ways.RING
    )
    strategy = tf.distribute.MultiWorkerMirroredStrategy(cluster, communication)

    tf.random.set_seed(options.seed)
    line = tf.random.stateless_normal((64, 1), (options.seed, 0))
    with strategy.scope():
        # What replicas assign is averaged.
        weights = tf.Variable(tf.zeros((64, 1)), aggregation=tf.VariableAggregation.MEAN)
        step = tf.Variable(0, dtype=tf.int64, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)

    @tf.function
    def train(number: tf.Tensor) -> tf.Tensor:
        def replica() -> tf.Tensor:
            inputs = tf.random.stateless_normal((options.batch, 64), tf.stack([number, rank + 1]))
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((inputs @ weights - inputs @ line) ** 2)
            weights.assign_sub(0.1 * tape.gradient(loss, weights))
            step.assign_add(1)
            return loss

        return strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(replica), axis=None)

    # All workers take part in saving, each in a folder; the first one's is the checkpoint.
    folder = options.checkpoint if rank == 0 else options.checkpoint / f"worker-{rank}"
    kept = tf.train.CheckpointManager(
        tf.train.Checkpoint(weights=weights, step=step), str(folder), max_to_keep=2
    )
    newest = tf.train.latest_checkpoint(str(options.checkpoint))
    if newest:
        tf.train.Checkpoint(weights=weights, step=step).read(newest).expect_partial()
    done = int(step.read_value())
    while done < options.steps:
        loss = train(tf.constant(done))
        done += 1
        if done % 20 == 0 or done == options.steps:
            kept.save()
            if rank == 0:
                print(f"step {done} of {tasks} workers: loss {float(loss):.6f}", flush=True)


if __name__ == "__main__":
    main()
