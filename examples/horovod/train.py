"""Data-parallel training with Horovod: MPI ranks that Slurm starts, gradients averaged by NCCL."""

import argparse
from pathlib import Path

import horovod.torch as hvd
import torch
from torch import nn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--save-every", type=int, default=50)
    parser.add_argument("--batch", type=int, default=64, help="per GPU")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoint.pt"))
    options = parser.parse_args()

    hvd.init()
    gpus = torch.cuda.device_count()
    device = torch.device("cuda", hvd.local_rank() % gpus) if gpus else torch.device("cpu")
    if gpus:
        torch.cuda.set_device(device)
    torch.manual_seed(options.seed)
    line = torch.randn(64, 1)
    model = nn.Linear(64, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    first = 0
    if hvd.rank() == 0 and options.checkpoint.exists():
        state = torch.load(options.checkpoint, map_location=device)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["step"]
    first = hvd.broadcast_object(first, root_rank=0)
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    for step in range(first, options.steps):
        dice = torch.Generator().manual_seed((options.seed << 48) + (step << 16) + hvd.rank())
        inputs = torch.randn(options.batch, 64, generator=dice)
        loss = nn.functional.mse_loss(model(inputs.to(device)), (inputs @ line).to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        done = step + 1
        if hvd.rank() == 0 and (done % options.save_every == 0 or done == options.steps):
            partial = options.checkpoint.with_suffix(".partial")
            torch.save(
                {"step": done, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, partial
            )
            partial.replace(options.checkpoint)
            print(f"step {done} of {hvd.size()} processes: loss {loss.item():.6f}", flush=True)


if __name__ == "__main__":
    main()
