"""QR codes against those of another program, module by module."""

import hashlib
from base64 import b64decode

import numpy as np
import pytest

from app.parts.qr_code import image_url, qr_code

LINK = "http://192.168.178.23:8501/lessons?start=word-pieces#key=\u043a" * 4
LENGTHS = (17, 32, 53, 78, 106, 134, 1, 18)
"""The most bytes of each version, and the least of two."""
REFERENCE = "72710be8a0bd0fc9eaf0e11289af4688fffbded983b53b4ed06e5623776af9a1"
"""SHA-256 of the packed modules of LINK in these lengths, as qrcode 8.2 draws them in byte mode,
with correction L and mask 0."""


def test_each_version_is_that_of_another_program() -> None:
    made = hashlib.sha256()
    for length in LENGTHS:
        text = LINK.encode()[:length].decode(errors="ignore")
        made.update(np.packbits(qr_code(text)).tobytes())
    assert made.hexdigest() == REFERENCE


def test_a_picture_has_a_margin_and_a_long_text_none() -> None:
    drawn = b64decode(image_url("a").partition(",")[2]).decode()
    assert 'viewBox="0 0 29 29"' in drawn
    assert drawn.count("M") == 1 + qr_code("a").sum()
    with pytest.raises(ValueError, match="135 bytes; a QR code here has at most 134"):
        image_url("a" * 135)
