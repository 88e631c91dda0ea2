"""Data-parallel training in PyTorch: one process per GPU, gradients averaged over all of them."""

import argparse
import os
from pathlib import Path

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def dataset(seed: int) -> TensorDataset:
    """Points of a line through 64 dimensions; the same in every process."""
    dice = torch.Generator().manual_seed(seed)
    inputs = torch.randn(4096, 64, generator=dice)
    return TensorDataset(inputs, inputs @ torch.randn(64, 1, generator=dice))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=64, help="per GPU")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("model.pt"))
    options = parser.parse_args()

    rank, world = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_NTASKS"])
    gpus = torch.cuda.device_count()
    device = torch.device("cuda", int(os.environ["SLURM_LOCALID"]) % gpus) if gpus else torch.device("cpu")
    if gpus:
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if gpus else "gloo", rank=rank, world_size=world)

    torch.manual_seed(options.seed)
    model = DistributedDataParallel(nn.Linear(64, 1).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    data = dataset(options.seed)
    sampler = DistributedSampler(data, seed=options.seed)
    loader = DataLoader(data, batch_size=options.batch, sampler=sampler)
    for epoch in range(options.epochs):
        sampler.set_epoch(epoch)
        total = torch.zeros((), device=device)
        for inputs, wanted in loader:
            loss = nn.functional.mse_loss(model(inputs.to(device)), wanted.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.detach() / len(loader)
        distributed.all_reduce(total)
        if rank == 0:
            print(
                f"epoch {epoch} of {world} processes on {device.type}: loss {total.item() / world:.6f}",
                flush=True,
            )
    if rank == 0:
        partial = options.out.with_suffix(".partial")
        torch.save(model.module.state_dict(), partial)
        partial.replace(options.out)
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
