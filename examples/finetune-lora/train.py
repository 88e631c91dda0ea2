"""Fine-tuning with LoRA: a language model's weights stay as they are, small matrices beside them learn."""

import argparse
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from torch.utils.data import Dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)


class Lines(Dataset):
    """Every line of a text file that is not empty, as tokens."""

    def __init__(self, file: Path, tokenizer: AutoTokenizer, length: int) -> None:
        lines = [line for line in file.read_text().splitlines() if line.strip()]
        self.rows = [tokenizer(line, truncation=True, max_length=length)["input_ids"] for line in lines]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: int) -> dict[str, list[int]]:
        return {"input_ids": self.rows[number]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="folder of a model, or its name at Hugging Face")
    parser.add_argument("--text", type=Path, required=True, help="one example per line")
    parser.add_argument("--epochs", type=float, default=3)
    parser.add_argument("--batch", type=int, default=4, help="per GPU")
    parser.add_argument("--rank", type=int, default=16, help="of the matrices that learn")
    parser.add_argument("--length", type=int, default=1024, help="tokens of a line that are used")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("adapter"))
    options = parser.parse_args()

    tokenizer = AutoTokenizer.from_pretrained(options.model)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    gpu = torch.cuda.is_available()
    # Without a GPU the processes meet by Gloo, which cannot add bfloat16.
    number = torch.bfloat16 if gpu else torch.float32
    model = AutoModelForCausalLM.from_pretrained(options.model, dtype=number)
    lora = LoraConfig(
        r=options.rank, lora_alpha=2 * options.rank, target_modules="all-linear", task_type="CAUSAL_LM"
    )
    arguments = TrainingArguments(
        output_dir=str(options.out),
        num_train_epochs=options.epochs,
        per_device_train_batch_size=options.batch,
        learning_rate=2e-4,
        bf16=gpu,
        use_cpu=not gpu,
        ddp_backend=None if gpu else "gloo",
        seed=options.seed,
        save_steps=100,
        save_total_limit=2,
        logging_steps=10,
        report_to="none",
    )
    trainer = Trainer(
        model=get_peft_model(model, lora),
        args=arguments,
        train_dataset=Lines(options.text, tokenizer, options.length),
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
    )
    trainer.train(resume_from_checkpoint=any(options.out.glob("checkpoint-*")))
    trainer.save_model()
    if trainer.is_world_process_zero():
        print(f"saved in {options.out}")


if __name__ == "__main__":
    main()
