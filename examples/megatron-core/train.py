"""A GPT split over the GPUs of a node (tensor parallel) and repeated over nodes (data parallel)."""

import argparse
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import torch
from megatron.core import dist_checkpointing, parallel_state
from megatron.core.distributed import (
    DistributedDataParallel,
    DistributedDataParallelConfig,
    finalize_model_grads,
)
from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
from megatron.core.models.gpt.gpt_model import GPTModel
from megatron.core.optimizer import OptimizerConfig, get_megatron_optimizer
from megatron.core.pipeline_parallel.schedules import get_forward_backward_func
from megatron.core.tensor_parallel.random import model_parallel_cuda_manual_seed
from megatron.core.transformer.transformer_config import TransformerConfig

VOCABULARY, LENGTH = 32000, 1024


def batches(seed: int, size: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Token runs that count upwards: each next token is known, so the loss falls. One sequence a replica."""
    dice = torch.Generator().manual_seed((seed << 16) + parallel_state.get_data_parallel_rank())
    while True:
        first = torch.randint(VOCABULARY, (size, 1), generator=dice)
        runs = (first + torch.arange(LENGTH + 1)) % VOCABULARY
        yield runs[:, :-1].contiguous().cuda(), runs[:, 1:].contiguous().cuda()


def mean_loss(losses: torch.Tensor) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    loss = losses.float().mean()
    return loss, {"loss": loss.detach()}


def forward(data: Iterator[tuple[torch.Tensor, torch.Tensor]], model: torch.nn.Module) -> object:
    tokens, wanted = next(data)
    positions = torch.arange(LENGTH, device=tokens.device).expand_as(tokens)
    seen = torch.ones(1, 1, LENGTH, LENGTH, dtype=torch.bool, device=tokens.device).triu(1)
    return model(tokens, positions, seen, labels=wanted), mean_loss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=4, help="sequences of a replica in a step")
    parser.add_argument("--tensor-parallel", type=int, default=8, help="GPUs that share each layer")
    parser.add_argument("--layers", type=int, default=24)
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoint"))
    options = parser.parse_args()

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl")
    parallel_state.initialize_model_parallel(tensor_model_parallel_size=options.tensor_parallel)
    torch.manual_seed(options.seed)
    model_parallel_cuda_manual_seed(options.seed)

    config = TransformerConfig(
        num_layers=options.layers,
        hidden_size=options.width,
        num_attention_heads=options.width // 128,
        tensor_model_parallel_size=options.tensor_parallel,
        bf16=True,
        params_dtype=torch.bfloat16,
        pipeline_dtype=torch.bfloat16,
        finalize_model_grads_func=finalize_model_grads,
    )
    gpt = GPTModel(config, get_gpt_layer_local_spec(), VOCABULARY, LENGTH).cuda().bfloat16()
    model = DistributedDataParallel(config, DistributedDataParallelConfig(), gpt)
    optimizer = get_megatron_optimizer(
        OptimizerConfig(lr=1e-4, bf16=True, params_dtype=torch.bfloat16), [model]
    )
    step_of = get_forward_backward_func()
    step = partial(step_of, forward_step_func=forward, model=[model], num_microbatches=1, seq_length=LENGTH)
    data = batches(options.seed, options.batch)
    for number in range(1, options.steps + 1):
        model.zero_grad_buffer()
        optimizer.zero_grad()
        losses = step(data_iterator=data, micro_batch_size=options.batch, forward_only=False)
        optimizer.step()
        if torch.distributed.get_rank() == 0 and number % 10 == 0:
            print(f"step {number}: loss {losses[0]['loss'].item():.4f}", flush=True)
    # Each rank writes its part; metadata.json, which makes a checkpoint of the folder, comes last.
    folder = options.checkpoint / str(options.steps)
    folder.mkdir(parents=True, exist_ok=True)
    dist_checkpointing.save(gpt.sharded_state_dict(), str(folder))
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
