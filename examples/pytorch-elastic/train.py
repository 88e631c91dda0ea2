"""Training that survives: torchrun starts it on the nodes there are, and it goes on from its checkpoint."""

import argparse
import os
import time
from pathlib import Path

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel


def batch(seed: int, step: int, rank: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """A rank's share of a step; the same when the step is done again."""
    line = torch.randn(64, 1, generator=torch.Generator().manual_seed(seed))
    dice = torch.Generator().manual_seed((seed << 48) + (step << 16) + rank)
    inputs = torch.randn(64, 64, generator=dice)
    return inputs.to(device), (inputs @ line).to(device)


def save(file: Path, state: dict[str, object]) -> None:
    """All of it or nothing, whenever the node loses its power."""
    partial = file.with_suffix(".partial")
    with partial.open("wb") as stream:
        torch.save(state, stream)
        stream.flush()
        os.fsync(stream.fileno())
    partial.replace(file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10000)
    parser.add_argument("--save-every", type=int, default=100, help="steps between checkpoints")
    parser.add_argument(
        "--pause", type=float, default=0, help="seconds that a step takes longer, to watch it"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoint.pt"))
    parser.add_argument("--stop-file", type=Path, help="save and end once it is there")
    options = parser.parse_args()

    gpus = torch.cuda.device_count()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if gpus else torch.device("cpu")
    if gpus:
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if gpus else "gloo")
    rank, world = distributed.get_rank(), distributed.get_world_size()

    torch.manual_seed(options.seed)
    model = DistributedDataParallel(nn.Linear(64, 1).to(device))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    first = 0
    if options.checkpoint.exists():
        state = torch.load(options.checkpoint, map_location=device, weights_only=True)
        model.module.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["step"]
    if rank == 0:
        print(f"from step {first} with {world} processes on {device.type}", flush=True)

    for step in range(first, options.steps):
        inputs, wanted = batch(options.seed, step, rank, device)
        loss = nn.functional.mse_loss(model(inputs), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(options.pause)
        # One rank looks, so that all of them stop at the same step.
        stop = torch.tensor(
            bool(rank == 0 and options.stop_file and options.stop_file.exists()), device=device
        )
        distributed.broadcast(stop, 0)
        done = step + 1
        if rank == 0 and (stop or done == options.steps or done % options.save_every == 0):
            state = {"step": done, "model": model.module.state_dict(), "optimizer": optimizer.state_dict()}
            save(options.checkpoint, state)
            print(f"saved at step {done}: loss {loss.item():.6f}", flush=True)
        if stop:
            break
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
