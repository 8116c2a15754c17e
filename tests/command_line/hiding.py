"""Which tokens `task: masked_language_model` hides, by docs/data.md alone: a second writing of it, in Python."""

import numpy

NO_LABEL = -100
WORD = 2**32
LONG = 2**64


def hashed(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % LONG
    value = (value + 0x9E3779B97F4A7C15) % LONG
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 % LONG
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB % LONG
    return value ^ (value >> 31)


def philox(key, counter):
    """Philox4x32-10 (Salmon et al., 2011) of one counter."""
    low, high = key % WORD, key // WORD
    a, b, c, d = counter
    for _ in range(10):
        left, right = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = right // WORD ^ b ^ low, right % WORD, left // WORD ^ d ^ high, left % WORD
        low, high = (low + 0x9E3779B9) % WORD, (high + 0xBB67AE85) % WORD
    return a, b, c, d


def hide(blocks, share, mask, vocabulary, seed=1, owner="evaluation"):
    """Blocks [N, T] as a model sees them, and their labels."""
    key = hashed(f"{seed}/{owner}/mask")
    shown, labels = blocks.copy(), numpy.full_like(blocks, NO_LABEL)
    count, length = blocks.shape
    for block in range(count):
        words = [philox(key, (place, block % WORD, block // WORD, 0)) for place in range(length)]
        order = sorted(range(length), key=lambda place: words[place][0])
        for place in order[: max(1, int(share * length + 0.5))]:
            labels[block, place] = blocks[block, place]
            fate = words[place][1] / WORD
            if fate < 0.8:
                shown[block, place] = mask
            elif fate < 0.9:
                shown[block, place] = words[place][2] * vocabulary // WORD
    return shown, labels
