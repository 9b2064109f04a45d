"""Encodings of files: guessed from few lines of many languages, and damage that costs one row."""

from pathlib import Path

import pytest

from bertcore.configs.columns import Columns
from bertcore.data.examples import TextExample
from bertcore.data.files import BadRows, find_encoding
from bertcore.data.guess import guess
from bertcore.data.tables import open_table
from bertcore.tasks import find_task

WRITTEN = {
    "cp1252": [
        "été,pos\nhiver,neg",
        "Die Straße ist schön und groß, für alle,gut\nÜber allen Gipfeln ist Ruh,schlecht",
        "El niño comió mañana,pos\n¿Dónde está el señor?,neg",
        'ham,"the price, £5"\nspam,win £1000 now',
        "He said “hello” and it’s fine,pos\nDon’t go,neg",
        "@you the old house café, ½ price",
        "naïve,c",
    ],
    "cp1250": [
        "Zażółć gęślą jaźń,pos\nMiałem świetny dzień,neg\nto było złe,neg",
        "Příliš žluťoučký kůň úpěl ďábelské ódy,a\nbyl to hezký den,b",
        "Árvíztűrő tükörfúrógép,a\nez egy szép nap volt,b\nnagyon jó film,c",
    ],
    "cp1254": ["Güzel bir gün geçirdik,a\nçok kötüydü şimdi İstanbul ığdır,b"],
    "cp1251": [
        "снег,да\nлёд,нет",
        "Это хороший фильм,да\nЭто плохой фильм,нет",
        "Это был очень хороший фильм,хорошо\nплохая еда и официант,плохо",
    ],
    "koi8_r": ["Это был очень хороший фильм,хорошо\nплохая еда и официант,плохо"],
    "cp866": ["Это был очень хороший фильм,хорошо\nплохая еда и официант,плохо"],
    "cp1253": ["Η ταινία ήταν πολύ καλή,καλό\nτο φαγητό ήταν κρύο,κακό"],
    "cp1255": ["הסרט היה טוב מאוד,טוב\nהאוכל היה קר,רע"],
    "cp1256": ["كان الفيلم جيدا جدا,جيد\nكان الطعام باردا,سيئ"],
    "gb18030": ["这部电影非常好看,好\n食物很冷服务员很慢,坏"],
    "big5": ["這部電影非常好看,好\n食物很冷服務生很慢,壞"],
    "cp932": ["とても良い映画でした,良い\n食べ物は冷たかったです,悪い"],
    "euc_jp": ["とても良い映画でした,良い\n食べ物は冷たかったです,悪い"],
    "cp949": ["정말 좋은 영화였다,좋음\n음식이 차가웠다,나쁨"],
    "mac_roman": ["L’été c’est très bien à Paris,pos\nla forêt près du château,neg"],
    "cp850": ["L'été c'est très bien à Paris,pos\nla forêt près du château,neg"],
    "utf-16-le": ["good,pos\nbad,neg", "很好的电影,pos\n不好,neg"],
    "utf-16-be": ["good,pos\nbad,neg"],
}


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in WRITTEN.items() for text in texts]
)
def test_some_lines_show_their_encoding(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    content = ("text,label\n" + f"{text}\n" * 4).encode(name)
    path.write_bytes(content)
    found = find_encoding(path)
    assert content.decode(found.name) == content.decode(name)
    assert found.is_guessed


def test_the_first_letter_beyond_ascii_may_stand_late(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\n" + b"good,pos\n" * 100_000 + "été,neg\n".encode("cp1252") * 3)
    assert find_encoding(path).name == "cp1252"


def texts(path: Path, bad: BadRows) -> list[str]:
    found = find_task("classify").read(path, columns=Columns(), bad_rows=bad)
    return [one.text for one in found if isinstance(one, TextExample)]


GOOD = [f"a film {i}" for i in range(18)]
ODD = {
    "0x00": b"ba\0d",
    "0xE9": "caf\xe9".encode("latin-1"),
    "0xFF": b"\xff",
}


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
@pytest.mark.parametrize("byte", ODD)
def test_a_byte_that_no_text_has_costs_one_row(byte: str, ending: str, tmp_path: Path) -> None:
    """NLP-Suite/NLP-Suite#1424: one 0x00 in row 11 was "not text, save it as UTF-8"."""
    path, sign = tmp_path / f"a{ending}", "," if ending == ".csv" else "\t"
    lines = [f"{text}{sign}né{i % 2}".encode() for i, text in enumerate(GOOD)]
    lines.insert(10, ODD[byte] + f"{sign}né0".encode())
    path.write_bytes(b"\n".join([f"text{sign}label".encode(), *lines]))
    with pytest.raises(ValueError, match=rf"row 11 of .* \(line 12\) holds a byte {byte}"):
        texts(path, BadRows())
    bad = BadRows(skip=True)
    assert texts(path, bad) == GOOD
    assert bad.num == 1
    assert guess(path).task == "classify"


def test_such_a_byte_in_a_column_that_is_not_read_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    lines = [f"{i},{text},né{i % 2}".encode() for i, text in enumerate(GOOD)]
    lines[10] = lines[10].replace(b"10,", b"\xe9\0,", 1)
    path.write_bytes(b"\n".join([b"id,text,label", *lines]))
    assert texts(path, BadRows()) == GOOD
    with (
        open_table(path, BadRows()) as table,
        pytest.raises(ValueError, match=r"row 11 .* in column 'id'"),
    ):
        list(table.rows)
