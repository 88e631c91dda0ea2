"""Training with DeepSpeed: optimizer, gradients and weights divided over all GPUs (ZeRO stage 3)."""

import argparse
import json
import os
from pathlib import Path

import deepspeed
import torch
from deepspeed.accelerator import get_accelerator
from torch import nn


def network(width: int, layers: int) -> nn.Module:
    blocks = [block for _ in range(layers) for block in (nn.Linear(width, width), nn.GELU())]
    return nn.Sequential(*blocks, nn.Linear(width, 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200, help="in all, those of earlier runs included")
    parser.add_argument("--save-every", type=int, default=50)
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument("--width", type=int, default=8192)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoint"))
    options = parser.parse_args()

    settings = json.loads(Path(__file__).with_name("zero3.json").read_text())
    machine = get_accelerator()
    machine.set_device(int(os.environ["LOCAL_RANK"]))
    deepspeed.init_distributed(machine.communication_backend_name())
    torch.manual_seed(options.seed)
    with deepspeed.zero.Init(config_dict_or_path=settings):
        model = network(options.width, options.layers)
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=settings)
    if (options.checkpoint / "latest").exists():
        engine.load_checkpoint(str(options.checkpoint))
    batch, rank = engine.train_micro_batch_size_per_gpu(), torch.distributed.get_rank()
    while engine.global_steps < options.steps:
        dice = torch.Generator().manual_seed((options.seed << 48) + (engine.global_steps << 16) + rank)
        inputs = torch.randn(batch, options.width, generator=dice)
        wanted = inputs.mean(dim=1, keepdim=True)
        loss = nn.functional.mse_loss(
            engine(inputs.to(engine.device, torch.bfloat16)).float(), wanted.to(engine.device)
        )
        engine.backward(loss)
        engine.step()
        if engine.global_steps % options.save_every == 0:
            # `latest` is written when every rank has written its part.
            engine.save_checkpoint(str(options.checkpoint))
            if rank == 0:
                print(f"step {engine.global_steps}: loss {loss.item():.6f}", flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
