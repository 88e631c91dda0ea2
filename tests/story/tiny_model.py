"""A language model of random weights that reads letters, made in the image of the examples."""

import string
import sys

import torch
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

words = ["<end>", "<unknown>", " ", *string.ascii_lowercase]
tokenizer = Tokenizer(
    models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="<unknown>")
)
tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>", unk_token="<unknown>").save_pretrained(
    sys.argv[1]
)

torch.manual_seed(0)
shape = LlamaConfig(
    vocab_size=len(words), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
    max_position_embeddings=128, bos_token_id=0, eos_token_id=0,
)  # fmt: skip
LlamaForCausalLM(shape).save_pretrained(sys.argv[1])
