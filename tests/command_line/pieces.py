"""A second reader of sentencepiece's unigram models, written from its format: pieces of a text, without Hydro."""

import struct


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """Number and content of each field of a protobuf message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            content, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            content, at = data[at : at + size], at + size
        else:
            size = {1: 8, 5: 4}[kind]
            content, at = data[at : at + size], at + size
        yield key >> 3, content


NORMAL, BYTE = 1, 6


class Pieces:
    def __init__(self, path):
        self.ids, self.scores, self.bytes, self.names = {}, {}, {}, []
        for number, content in fields(path.read_bytes()):
            if number == 1:
                piece = {1: b"", 2: struct.pack("<f", 0), 3: NORMAL} | dict(fields(content))
                self.add(piece[1].decode(), struct.unpack("<f", piece[2])[0], piece[3])

    def add(self, name, score, kind):
        if kind == NORMAL:
            self.ids[name], self.scores[name] = len(self.names), score
        if kind == BYTE:
            self.bytes[int(name[1:-1], 16)] = len(self.names)
        self.names.append(name)

    def line(self, text):
        """The most likely cut of a line without its line break; unknown characters as their bytes."""
        text = text.replace(" ", "\u2581")
        unknown = min(self.scores.values()) - 10
        longest = max(map(len, self.ids))
        best = [(0, 0, [])] + [None] * len(text)
        for begin in range(len(text)):
            score, _, _ = best[begin]
            for end in range(begin + 1, min(len(text), begin + longest) + 1):
                piece = text[begin:end]
                if piece in self.ids:
                    step, tokens = self.scores[piece], [self.ids[piece]]
                elif end == begin + 1:
                    step, tokens = unknown, [self.bytes[byte] for byte in piece.encode()]
                else:
                    continue
                if best[end] is None or score + step > best[end][0]:
                    best[end] = (score + step, begin, tokens)
        cut, end = [], len(text)
        while end:
            _, begin, tokens = best[end]
            cut, end = tokens + cut, begin
        return cut

    def text(self, text):
        tokens = []
        for number, line in enumerate(text.split("\n")):
            tokens += [self.names.index("\n")] * (number > 0) + self.line(line)
        return tokens

    def decode(self, tokens):
        """The bytes that the tokens stand for."""
        byte_of = {token: byte for byte, token in self.bytes.items()}
        return b"".join(
            bytes([byte_of[token]]) if token in byte_of else self.names[token].replace("\u2581", " ").encode()
            for token in tokens
        )
