"""A file (plain, compressed, standard input) -> its bytes, and bytes -> UTF-8 text."""

import bz2
import codecs
import gzip
import io
import lzma
import re
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from stepsel.reading.errors import ReadingError, listed

BOMS = {  # the longer first: the UTF-32 mark begins with the UTF-16 one
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "feather",
    b"\xd0\xcf\x11\xe0": "excel",
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
}
HEAD = 1 << 16
WESTERN_SIGNS = (
    "\u20ac\u0160\u0161\u017d\u017e\u0152\u0153\u2018\u2019\u201c\u201d\u2013\u2014\u00a0£«»°²³ªºµ½¿¡".encode("cp1252")
)


@dataclass(frozen=True)
class TextFile:
    """The content of a text file, as text and as UTF-8; without byte order mark, line ends as they were."""

    path: str
    text: str
    utf8: bytes


def load(path: str | Path) -> tuple[bytes, str]:
    """Read a file whole and say what kind it is, by its first bytes rather than by its name.

    Parameters
    ----------
    path : str or Path
        The file; ``"-"`` is standard input.

    Returns
    -------
    data : bytes
        The content, decompressed.
    kind : str
        ``"text"``, ``"excel"``, ``"parquet"``, ``"feather"`` or ``"stata"``.

    Raises
    ------
    ReadingError
        The file is missing, a folder, empty, damaged or an archive of several files.
    """
    data = _file_bytes(path)
    try:
        data, kind = _unpack(data, path)
    except (OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise ReadingError(f"{path} is compressed but damaged: {error}.") from error
    if not data[:HEAD].strip() and not data.strip():
        raise ReadingError(f"{path} is empty.")
    if kind == "text" and Path(path).suffix.lower() == ".dta":
        kind = "stata"
    return data, kind


def _file_bytes(path: str | Path) -> bytes:
    if str(path) == "-":
        return sys.stdin.buffer.read()
    file = Path(path)
    if file.is_dir():
        raise ReadingError(f"{path} is a folder, not a file.")
    try:
        return file.read_bytes()
    except FileNotFoundError as error:
        raise ReadingError(f"{path} was not found.") from error
    except OSError as error:
        raise ReadingError(f"{path} cannot be read: {error.strerror or error}.") from error


def _unpack(data: bytes, path: str | Path) -> tuple[bytes, str]:
    kind = next((kind for magic, kind in MAGIC.items() if data.startswith(magic)), "text")
    if kind == "zip":
        return _unzip(data, path)
    openers = {"gzip": gzip.decompress, "bz2": bz2.decompress, "xz": lzma.decompress}
    if kind in openers:
        return _unpack(openers[kind](data), path)
    return data, kind


def _unzip(data: bytes, path: str | Path) -> tuple[bytes, str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        if "[Content_Types].xml" in names or "mimetype" in names:  # xlsx and ods are archives themselves
            return data, "excel"
        members = [name for name in names if not name.endswith("/") and not name.startswith("__MACOSX")]
        if len(members) != 1:
            raise ReadingError(
                f"{path} is an archive of {len(members)} files ({listed(members)}): unpack it and name one."
            )
        return _unpack(archive.read(members[0]), path)


def decode(data: bytes, path: str | Path, encoding: str | None) -> tuple[TextFile, str | None]:
    """Turn the bytes of a text file into text.

    Parameters
    ----------
    data : bytes
        The content of the file.
    path : str or Path
        Its name, for messages.
    encoding : str or None
        As declared by the user; None to find it: byte order mark, then UTF-16 by its NUL pattern, then strict
        UTF-8, then GB18030 or Windows-1252, whichever is plausible.

    Returns
    -------
    file : TextFile
        The content.
    note : str or None
        The encoding in a sentence, unless it is UTF-8.

    Raises
    ------
    ReadingError
        The file is not text, or not in the declared encoding, or in none that can be told.
    """
    found = encoding or _encoding_of(data, path)
    try:
        text = data.decode(found)
    except LookupError as error:
        raise ReadingError(f"{found!r} is not an encoding that Python knows.") from error
    except UnicodeError as error:
        line = 1 + data[: getattr(error, "start", 0)].count(b"\n")
        raise ReadingError(
            f"{path}, line {line}, cannot be decoded as {found}: give the encoding it was saved in with --encoding."
        ) from error
    if re.search(r"[\x00-\x08]", text[:HEAD]):  # no table has control characters
        raise ReadingError(f"{path} is a binary file, not a table of text.")
    plain = text.removeprefix("\ufeff").removesuffix("\x1a")  # byte order mark, and the end mark of DOS
    if "\n" not in plain:  # line ends of an old Macintosh
        plain = plain.replace("\r", "\n")
    same = plain is text and found == "utf-8"
    note = None
    if found in ("cp1252", "gb18030"):
        note = f"The file is not UTF-8; encoding {found} was assumed (--encoding overrules it)."
    elif found not in ("utf-8", "utf-8-sig"):
        note = f"Encoding {found}."
    return TextFile(str(path), plain, data if same else plain.encode()), None if encoding else note


def _encoding_of(data: bytes, path: str | Path) -> str:
    for bom, name in BOMS.items():
        if data.startswith(bom):
            return name
    head = data[:HEAD]
    if b"\x00" in head:
        return _utf16_without_mark(head, path)
    if data.isascii():
        return "utf-8"
    try:
        data.decode("utf-8")
        return "utf-8"
    except UnicodeDecodeError as error:
        # Judged around the first foreign bytes: headers and levels repeat, numbers say nothing.
        return _legacy_encoding(data[max(0, error.start - HEAD) : error.start + HEAD], path)


def _utf16_without_mark(head: bytes, path: str | Path) -> str:
    """Latin letters and digits in UTF-16 have a NUL in every second byte; nothing else of use does."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd > 0.4 * len(head) / 2 and even < 0.05 * len(head):
        return "utf-16-le"
    if even > 0.4 * len(head) / 2 and odd < 0.05 * len(head):
        return "utf-16-be"
    raise ReadingError(f"{path} is a binary file, not a table of text.")


def _legacy_encoding(sample: bytes, path: str | Path) -> str:
    if _is_chinese(sample):
        return "gb18030"
    if not _is_western(sample):
        raise ReadingError(
            f"{path} is not UTF-8 and its encoding cannot be told: give it with --encoding "
            "(such as cp1252, cp1250, cp1251, gb18030, big5, shift_jis, euc-kr)."
        )
    return "cp1252"


def _is_chinese(sample: bytes) -> bool:
    """Whether high bytes come in pairs, mostly everyday characters (rows B0-D7) or signs (rows A1-A9)."""
    runs = re.findall(rb"[\x80-\xff]+", sample)
    if not runs or sum(len(run) % 2 for run in runs) > 0.1 * len(runs):
        return False
    leads = b"".join(run[0::2] for run in runs)
    trails = b"".join(run[1::2] for run in runs)
    everyday = sum(lead <= 0xA9 or 0xB0 <= lead <= 0xD7 for lead in leads if lead > 0xA0)
    return everyday >= 0.7 * len(leads) and all(trail > 0xA0 for trail in trails)


def _is_western(sample: bytes) -> bool:
    """Whether high bytes are mostly letters among Latin ones; words of nothing else belong to another script."""
    high = re.findall(rb"[\x80-\xff]", sample)
    usual = re.findall(rb"[\xc0-\xff" + WESTERN_SIGNS + rb"]", sample)
    if re.search(rb"[\x81\x8d\x8f\x90\x9d]", sample) or len(usual) < 0.7 * len(high):
        return False  # unassigned in Windows-1252, or signs that headers do not hold
    words = re.findall(rb"[A-Za-z\xc0-\xff]*[\xc0-\xff][A-Za-z\xc0-\xff]*", sample)
    foreign = [word for word in words if len(word) >= 3 and not re.search(rb"[A-Za-z]", word)]
    return len(foreign) <= 0.5 * len(words)
