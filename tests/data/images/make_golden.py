"""Writes golden.safetensors: encoded images and the RGB values that PIL reads from them.

Run from the repository root: .venv/bin/python tests/data/images/make_golden.py
`file_NAME` uint8 [bytes]; `rgb_NAME` uint8 [H, W, 3]; `refused_NAME` uint8 [bytes] is not read. `resized_NAME` uint8
[H, W, 3]: what torchvision's resize makes of rgb_png_rgb.
"""

import io
import pathlib
import struct
import zlib

import numpy
import torch
from PIL import Image
from safetensors.numpy import save_file
from torchvision.transforms.v2.functional import resize

HEIGHT, WIDTH = 13, 18
draw = numpy.random.default_rng(1)


def picture(channels):
    """A slope with some noise: all frequencies, and edges of blocks that are not whole."""
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
    slopes = numpy.stack([12 * y + 3 * c * x + draw.integers(0, 40, (HEIGHT, WIDTH)) for c in range(channels)], -1)
    return numpy.clip(slopes, 0, 255).astype(numpy.uint8).squeeze()


def encoded(image, kind, **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png(depth, color, rows, extra=b""):
    """What PIL does not write. `rows` are of bytes, WIDTH pixels each."""
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, depth, color, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def random_rows(size):
    return draw.integers(0, 256, (HEIGHT, size), dtype=numpy.uint8)


rgb, grey = Image.fromarray(picture(3)), Image.fromarray(picture(1))
rgba = Image.fromarray(picture(4), "RGBA")
exif = Image.Exif()
exif[0x0112] = 6  # orientation: rotate by 90 degrees
files = {
    "jpeg_444": encoded(rgb, "JPEG", quality=90, subsampling=0),
    "jpeg_422": encoded(rgb, "JPEG", quality=80, subsampling=1),
    "jpeg_420": encoded(rgb, "JPEG", quality=70, subsampling=2),
    "jpeg_progressive": encoded(rgb, "JPEG", quality=85, progressive=True),
    "jpeg_grey": encoded(grey, "JPEG", quality=85),
    "jpeg_rgb": encoded(rgb, "JPEG", quality=85, keep_rgb=True),
    "jpeg_rotated": encoded(rgb, "JPEG", quality=85, exif=exif),
    "png_rgb": encoded(rgb, "PNG"),
    "png_rgba": encoded(rgba, "PNG"),
    "png_grey": encoded(grey, "PNG"),
    "png_grey_alpha": encoded(rgba.convert("LA"), "PNG"),
    "png_palette": encoded(rgb.quantize(20), "PNG"),
    "png_palette_clear": encoded(rgb.quantize(20), "PNG", transparency=bytes(range(20))),
    "png_1_bit": encoded(grey.convert("1"), "PNG"),
    "png_2_bits": png(2, 0, random_rows((WIDTH + 3) // 4)),
    "png_4_bits": png(4, 0, random_rows((WIDTH + 1) // 2)),
    "png_rgb_16_bits": png(16, 2, random_rows(6 * WIDTH)),
    "png_rgba_16_bits": png(16, 6, random_rows(8 * WIDTH)),
    "png_grey_alpha_16_bits": png(16, 4, random_rows(4 * WIDTH)),
    "png_gamma": png(8, 2, random_rows(3 * WIDTH), chunk(b"gAMA", struct.pack(">I", 100000))),
}
tensors = {}
for name, content in files.items():
    tensors[f"file_{name}"] = numpy.frombuffer(content, numpy.uint8)
    tensors[f"rgb_{name}"] = numpy.array(Image.open(io.BytesIO(content)).convert("RGB"))
cmyk = encoded(rgb.convert("CMYK"), "JPEG", quality=85)
tensors["refused_cmyk"] = numpy.frombuffer(cmyk, numpy.uint8)
tensors["refused_grey_16_bits"] = numpy.frombuffer(png(16, 0, random_rows(2 * WIDTH)), numpy.uint8)
whole = torch.tensor(tensors["rgb_png_rgb"]).permute(2, 0, 1)
for name, size in (("smaller", [7, 9]), ("larger", [20, 30])):
    tensors[f"resized_{name}"] = resize(whole, size, antialias=True).permute(1, 2, 0).contiguous().numpy()
save_file(tensors, pathlib.Path(__file__).with_name("golden.safetensors"))
