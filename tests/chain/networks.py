"""Networks that read tokens or attend, each with its widths divided by `shrink`: built from their own packages'
configs, unchanged. Dropout is off, so that train mode can be compared."""
import torch
from torch import nn
from torchvision.models.mobilenetv3 import InvertedResidualConfig, MobileNetV3
from torchvision.models.vision_transformer import VisionTransformer
from transformers import (BertConfig, BertForMaskedLM, BertForSequenceClassification, GPT2Config, GPT2LMHeadModel,
                          GPTNeoConfig, GPTNeoForCausalLM, SwinConfig, SwinForImageClassification)

WORDS = 96
TOKENS = 16


def narrow(width, shrink):
    """`shrink` under 1 makes it wider."""
    return int(width / shrink)


def gpt2(shrink=1, attention="sdpa"):
    return GPT2LMHeadModel(GPT2Config(n_layer=2, n_embd=narrow(64, shrink), n_head=4, vocab_size=WORDS, n_positions=TOKENS,
                                      resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, use_cache=False, bos_token_id=0, eos_token_id=0,
                                      attn_implementation=attention))


def gpt_neo(shrink=1):
    return GPTNeoForCausalLM(GPTNeoConfig(num_layers=2, hidden_size=narrow(64, shrink), num_heads=4, vocab_size=WORDS,
                                          max_position_embeddings=TOKENS, window_size=8, use_cache=False,
                                          attention_types=[[["global", "local"], 1]], resid_dropout=0,
                                          embed_dropout=0, attention_dropout=0, bos_token_id=0, eos_token_id=0))


def bert_config(shrink, **more):
    return BertConfig(num_hidden_layers=2, hidden_size=narrow(64, shrink), num_attention_heads=4,
                      intermediate_size=narrow(128, shrink), vocab_size=WORDS, max_position_embeddings=TOKENS,
                      hidden_dropout_prob=0, attention_probs_dropout_prob=0, **more)


def bert_words(shrink=1):
    return BertForMaskedLM(bert_config(shrink))


def bert_classes(shrink=1):
    return BertForSequenceClassification(bert_config(shrink, num_labels=3))


def swin(shrink=1):
    return SwinForImageClassification(SwinConfig(image_size=32, patch_size=4, embed_dim=narrow(32, shrink), depths=[2, 2],
                                                 num_heads=[2, 4], window_size=4, num_labels=10, drop_path_rate=0))


def vit(shrink=1):
    return VisionTransformer(image_size=28, patch_size=7, num_layers=2, num_heads=4, hidden_dim=narrow(64, shrink),
                             mlp_dim=narrow(128, shrink), num_classes=10)


def mobilenet_v3(shrink=1):
    """Every width, and a quarter of it in squeeze and excitation, is one that the package does not round."""
    rows = [(32, 3, 128, 32, True, "RE", 2, 1), (32, 3, 128, 32, False, "HS", 1, 1), (32, 5, 128, 64, True, "HS", 2, 1)]
    settings = [InvertedResidualConfig(*row, 1 / shrink) for row in rows]
    return MobileNetV3(settings, last_channel=narrow(128, shrink), num_classes=10, dropout=0.0)


class LstmLanguageModel(nn.Module):
    def __init__(self, width, layers, tied):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, width)
        self.rnn = nn.LSTM(width, width, layers, batch_first=True)
        self.head = nn.Linear(width, WORDS)
        if tied:
            self.head.weight = self.embedding.weight

    def forward(self, tokens):
        return self.head(self.rnn(self.embedding(tokens))[0])


def lstm(shrink=1, layers=2, tied=False):
    return LstmLanguageModel(narrow(64, shrink), layers, tied)


class EncoderLanguageModel(nn.Module):
    def __init__(self, width, tokens):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, width)
        self.positions = nn.Parameter(torch.randn(tokens, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(width, WORDS)

    def forward(self, tokens):
        steps = tokens.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(steps)
        h = self.embedding(tokens) + self.positions[:steps]
        return self.head(self.encoder(h, mask=mask, is_causal=True))


def encoder(shrink=1, tokens=TOKENS):
    return EncoderLanguageModel(narrow(64, shrink), tokens)


IDS = f"input_ids=int64[*,{TOKENS}]"
WORDS_IN = f"int64[*,{TOKENS}]"
NETWORKS = {"gpt2": (gpt2, {}, IDS), "gpt2_eager": (gpt2, {"attention": "eager"}, IDS), "gpt_neo": (gpt_neo, {}, IDS),
            "bert_words": (bert_words, {}, IDS), "bert_classes": (bert_classes, {}, IDS),
            "swin": (swin, {}, "pixel_values=float32[*,3,32,32]"), "vit": (vit, {}, "float32[*,3,28,28]"),
            "mobilenet_v3": (mobilenet_v3, {}, "float32[*,3,28,28]"),
            "lstm": (lstm, {}, WORDS_IN), "lstm_one_layer": (lstm, {"layers": 1}, WORDS_IN),
            "lstm_tied": (lstm, {"tied": True}, WORDS_IN), "encoder": (encoder, {}, WORDS_IN)}
# At full width only, wide enough that a coordinate check at S = 4 judges their layers.
WIDE = {f"wide_{name}": (NETWORKS[name][0], {**NETWORKS[name][1], "shrink": shrink}, NETWORKS[name][2])
        for name, shrink in {"gpt2": 0.5, "gpt2_eager": 0.5, "gpt_neo": 0.5, "bert_words": 0.5, "bert_classes": 0.5,
                             "swin": 0.25, "vit": 0.5, "mobilenet_v3": 0.5, "lstm": 0.25, "lstm_tied": 0.5,
                             "encoder": 0.5}.items()}
