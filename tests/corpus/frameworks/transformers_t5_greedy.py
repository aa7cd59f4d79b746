"""Answers one text at a time by a small T5: greedy decoding with a cache that grows by each word."""

import steps
import torch
from transformers import T5Config, T5ForConditionalGeneration

WORDS, NEW_WORDS = 48, 10


def build(variant):
    """Return a step: a text to the GPU, the new words back."""
    torch.manual_seed(0)
    config = T5Config(d_model=512, d_ff=2048, num_layers=4, num_heads=8, decoder_start_token_id=0)
    model = T5ForConditionalGeneration(config)
    # With the weights of the embeddings, a model that learned nothing repeats its first word.
    model.lm_head.weight = torch.nn.Parameter(torch.randn(config.vocab_size, config.d_model))
    model = model.cuda().eval()
    model.generation_config.eos_token_id = None
    texts = [torch.randint(2, 32000, (1, WORDS)) for _ in range(8)]

    def generate(number):
        text = texts[number % 8].cuda()
        return model.generate(text, max_new_tokens=NEW_WORDS, do_sample=False).cpu()

    if variant == "eager":
        return generate
    text = texts[0].cuda()

    @torch.no_grad()
    def decode():
        encoded = model.encoder(input_ids=text)
        words = [torch.zeros(1, 1, dtype=torch.long, device="cuda")]
        cache = None
        for _ in range(NEW_WORDS):
            output = model(
                encoder_outputs=encoded, decoder_input_ids=words[-1], past_key_values=cache, use_cache=True
            )
            cache = output.past_key_values
            words.append(output.logits[:, -1].argmax(-1, keepdim=True))
        return torch.cat(words, dim=1)

    replay = steps.captured(decode)

    def step(number):
        text.copy_(texts[number % 8])
        return replay().cpu()

    return step


steps.run(build, "eager", "graph")
